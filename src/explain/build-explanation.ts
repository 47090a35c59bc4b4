/**
 * What a request came to, told from the very thing that is sent. It is told in two parts: what became
 * of each item, which grows with the conversation, and everything else.
 */
import type { Item } from '../core/item.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import type { Note } from '../core/note.ts'
import type { DialectName, PromptParameters } from '../core/prompt.ts'
import { digestText } from '../core/text/digest.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { listPolicyLevels } from '../gateway/prompt/resolve-request-policy.ts'
import {
  applyTokenCorrection,
  resolveTokenCorrection,
  estimateBodyTokens,
  computeConversationBudget,
  resolveContextWindow,
} from '../gateway/prompt/size/estimate-tokens-and-window.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { UpstreamRequest } from '../upstream/transport/transport-interface.ts'
import { describePolicy } from './describe-policy.ts'
import { deriveItemDispositions, type ItemDisposition } from './item-dispositions.ts'
import {
  subtractSizes,
  addSizes,
  sumSizes,
  scaleSize,
  measureItems,
  type Size,
  type ItemSizes,
} from './item-size.ts'
import { measureRequestParts } from './request-size-by-part.ts'

export interface Explanation {
  readonly about: ExplanationSummary
  readonly fates: readonly ItemDisposition[]
}

export interface ExplanationSummary extends JsonObject {
  readonly api: string
  readonly upstream: JsonObject & { readonly wire: string }
  readonly policy: JsonObject & { readonly name: string }
  /** How many items there were. */
  readonly counts: JsonObject
  readonly sent: JsonObject & { readonly estimated_tokens: number }
  /** What all of it would have cost, by estimate. */
  readonly fullReplay: JsonObject
  readonly parts: JsonObject
  /** Of what was added, what each layer told, if any did. */
  readonly layers?: JsonObject
  readonly window: JsonObject
  /** What the tokens of its items are to be multiplied with; those told here are. Older versions kept none. */
  readonly correction?: number
  /** By this it is told later whether its client has asked with the same. Older versions kept none. */
  readonly given?: ClientFieldDigests
  /** The notes that are about no item. */
  readonly notes: readonly (Note & JsonObject)[]
}

export interface ClientFieldDigests extends JsonObject {
  /** A digest; `null` for none. */
  readonly instructions: string | null
  readonly tools: string | null
}

/** What is known of a request beside what it says itself. */
export interface RequestFacts extends JsonObject {
  readonly api: DialectName
  readonly upstream: ExplanationSummary['upstream']
  readonly policy: ExplanationSummary['policy']
  readonly window: { readonly tokens: number | null; readonly room: number | null }
  readonly correction: number
  readonly notes: ExplanationSummary['notes']
}

/** What it says, and what that was made of. */
export interface ExplanationInput {
  readonly items: readonly Item[]
  /** How many of them the history brought, and how many its client. */
  readonly remembered: number
  readonly asked: number
  /** How many its client wrote, before anything was put between them. */
  readonly given: number
  readonly sent: readonly Item[]
  readonly places: readonly (number | null)[]
  /** As they are sent, and as its client says them. */
  readonly params: Pick<PromptParameters, 'instructions' | 'tools'>
  readonly said: Pick<PromptParameters, 'instructions' | 'tools'>
  readonly bytes: number
  /** Of the whole body, as nobody has set it right. */
  readonly estimate: number
}

export function explainPreparedRequest(
  prepared: PreparedRequest,
  request: UpstreamRequest,
  settings: Settings,
): Explanation {
  return buildExplanation(
    collectRequestFacts(prepared, request, settings),
    matterOf(prepared, request),
  )
}

export function collectRequestFacts(
  prepared: PreparedRequest,
  { method, url }: UpstreamRequest,
  settings: Settings,
): RequestFacts {
  const { clientRequest, account, provider, prompt, notes, encoded, policy } = prepared
  const { model } = prompt.params
  const window = resolveContextWindow(prepared)
  return {
    api: clientRequest.dialect,
    upstream: {
      name: account.name,
      wire: provider.wire,
      model,
      method,
      url,
      unchanged: encoded.bytes !== undefined,
    },
    policy: describePolicy(policy, listPolicyLevels(model, prepared, settings)),
    window: {
      tokens: window,
      room: window === null ? null : computeConversationBudget(window, prepared),
    },
    correction: resolveTokenCorrection(prepared),
    notes: notes.map((note) => ({ ...note })),
  }
}

function matterOf(prepared: PreparedRequest, { body }: UpstreamRequest): ExplanationInput {
  const { clientRequest, history, prompt, originalPositions, items } = prepared
  const { items: asked, originalItems = asked } = clientRequest
  return {
    items,
    remembered: history.items.length,
    asked: asked.length,
    given: originalItems.length,
    sent: prompt.items,
    places: originalPositions,
    params: prompt.params,
    said: clientRequest.params,
    bytes: bytesOf(body),
    estimate: estimateBodyTokens(prepared),
  }
}

export function buildExplanation(facts: RequestFacts, matter: ExplanationInput): Explanation {
  const { api, upstream, policy, correction, notes } = facts
  const { items, sent, places, remembered, asked, params, bytes } = matter
  const tokens = applyTokenCorrection(matter.estimate, correction)
  const brought = remembered + asked
  const weights = measureItems({ items, sent, places })
  const of = { items, weights, remembered, given: brought, notes, sent, places }
  const fates = deriveItemDispositions({ ...of, wire: upstream.wire })
  const total = { bytes, tokens }
  const unsaid = new Set(fates.filter(({ fate }) => fate === 'dropped').map(({ place }) => place))
  const made = { items: sent, weights: weights.sent, places, unsaid, params, total, correction }
  const { parts, layers } = measureRequestParts(made)
  const { tokens: window, room } = facts.window
  const shown = new Set(fates.flatMap((fate) => fate.notes?.map(nameOf) ?? []))
  return {
    fates,
    about: {
      api,
      upstream,
      policy,
      counts: {
        given: matter.given,
        remembered: remembered + notes.filter(isRecalled).length,
        ...(items.length > brought ? { answered: items.length - brought } : {}),
        sent: sent.length,
      },
      sent: { bytes, estimated_tokens: tokens },
      fullReplay: fullReplayOf(total, weights, correction),
      parts: jsonOf(parts),
      ...(layers === null ? {} : { layers: jsonOf(layers) }),
      window: {
        tokens: window,
        room: room === null ? null : Math.max(0, Math.floor(room) - tokens),
      },
      ...(correction === 1 ? {} : { correction }),
      given: givenOf(matter.said),
      // Those on an item stand with it.
      notes: notes.filter(
        (note) => note.at === undefined || note.field !== undefined || !shown.has(nameOf(note)),
      ),
    },
  }
}

function givenOf({ instructions, tools }: ExplanationInput['said']): ClientFieldDigests {
  return {
    instructions: instructions === null ? null : digestText(instructions),
    tools: tools.length === 0 ? null : digestText(JSON.stringify(tools)),
  }
}

/** What was left out is added, without saying it in the wire: for that it would be encoded twice. */
function fullReplayOf(total: Size, { given, sent }: ItemSizes, correction: number): JsonObject {
  const lost = scaleSize(subtractSizes(sumSizes(given), sumSizes(sent)), {
    bytes: 1,
    tokens: correction,
  })
  const { bytes, tokens } = addSizes(total, lost)
  return { bytes, estimated_tokens: tokens }
}

function nameOf({ did, why, by }: Pick<Note, 'did' | 'why' | 'by'>): string {
  return `${did} ${why} ${by ?? ''}`
}

function isRecalled({ did, why }: Note): boolean {
  return did === 'added' && why === 'recalled'
}

function bytesOf(body: string | Uint8Array | null): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0)
}

function jsonOf(value: object): JsonObject {
  return value as { readonly [key: string]: Json }
}
