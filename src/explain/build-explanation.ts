/**
 * Builds the explanation of an upstream request. It has two parts: `fates` describes what happened to
 * each item and grows with the conversation; `about` describes the rest, e.g. sizes and the policy.
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
  /** Numbers of items: from the client, from the history, sent. */
  readonly counts: JsonObject
  readonly sent: JsonObject & { readonly estimated_tokens: number }
  /** Estimated size of the request if no item had been dropped or shortened. */
  readonly fullReplay: JsonObject
  readonly parts: JsonObject
  /** Size of each memory layer in `parts.added`; absent without layers. */
  readonly layers?: JsonObject
  readonly window: JsonObject
  /**
   * Factor for the token estimates of items, learned from the provider's counts, e.g. 1.2. `parts`
   * already includes it. Absent if 1, and in rows of older versions.
   */
  readonly correction?: number
  /**
   * Digests of the client's fields, which show a change in the next request. Absent in rows of older
   * versions.
   */
  readonly given?: ClientFieldDigests
  /** Notes that concern the whole request and not one item. */
  readonly notes: readonly (Note & JsonObject)[]
}

export interface ClientFieldDigests extends JsonObject {
  /** Null if the client sent none. */
  readonly instructions: string | null
  readonly tools: string | null
}

/** Facts about a request that its body does not contain. */
export interface RequestFacts extends JsonObject {
  readonly api: DialectName
  readonly upstream: ExplanationSummary['upstream']
  readonly policy: ExplanationSummary['policy']
  readonly window: { readonly tokens: number | null; readonly room: number | null }
  readonly correction: number
  readonly notes: ExplanationSummary['notes']
}

/** The items and fields of a request, as the client wrote them and as they were sent. */
export interface ExplanationInput {
  readonly items: readonly Item[]
  /** Number of `items` from the history. */
  readonly remembered: number
  /** Number of `items` from the client's request. */
  readonly asked: number
  /** Number of items that the client wrote itself, before the gateway inserted any. */
  readonly given: number
  readonly sent: readonly Item[]
  /** Index in `items` of each sent item; null for an inserted one. */
  readonly places: readonly (number | null)[]
  /** The fields as they are sent to the upstream. */
  readonly params: Pick<PromptParameters, 'instructions' | 'tools'>
  /** The fields as the client wrote them. */
  readonly clientParams: Pick<PromptParameters, 'instructions' | 'tools'>
  readonly bytes: number
  /** Estimated tokens of the body, without the correction factor. */
  readonly estimate: number
}

export function explainPreparedRequest(
  prepared: PreparedRequest,
  request: UpstreamRequest,
  settings: Settings,
): Explanation {
  const facts = collectRequestFacts(prepared, request, settings)
  return buildExplanation(facts, toExplanationInput(prepared, request))
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

function toExplanationInput(
  prepared: PreparedRequest,
  { body }: UpstreamRequest,
): ExplanationInput {
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
    clientParams: clientRequest.params,
    bytes: bytesOf(body),
    estimate: estimateBodyTokens(prepared),
  }
}

export function buildExplanation(facts: RequestFacts, input: ExplanationInput): Explanation {
  const { api, upstream, policy, correction, notes } = facts
  const { items, sent, places, remembered, asked, params, bytes } = input
  const tokens = applyTokenCorrection(input.estimate, correction)
  const initialCount = remembered + asked
  const lists = { items, sent, places, notes, remembered, given: initialCount }
  const weights = measureItems(lists)
  const fates = deriveItemDispositions({ ...lists, weights, wire: upstream.wire })
  const total = { bytes, tokens }
  const droppedPlaces = new Set(
    fates.filter(({ fate }) => fate === 'dropped').map(({ place }) => place),
  )
  const { parts, layers } = measureRequestParts({
    items: sent,
    weights: weights.sent,
    places,
    droppedPlaces,
    params,
    total,
    correction,
  })
  const { tokens: window, room } = facts.window
  const itemNotes = new Set(fates.flatMap((fate) => fate.notes?.map(noteKey) ?? []))
  return {
    fates,
    about: {
      api,
      upstream,
      policy,
      counts: {
        given: input.given,
        remembered: remembered + notes.filter(isRecalled).length,
        ...(items.length > initialCount ? { answered: items.length - initialCount } : {}),
        sent: sent.length,
      },
      sent: { bytes, estimated_tokens: tokens },
      fullReplay: measureFullReplay(total, weights, correction),
      parts: jsonOf(parts),
      ...(layers === null ? {} : { layers: jsonOf(layers) }),
      window: {
        tokens: window,
        room: room === null ? null : Math.max(0, Math.floor(room) - tokens),
      },
      ...(correction === 1 ? {} : { correction }),
      given: digestClientFields(input.clientParams),
      // Notes about an item are part of its disposition.
      notes: notes.filter(
        (note) =>
          note.at === undefined || note.field !== undefined || !itemNotes.has(noteKey(note)),
      ),
    },
  }
}

function digestClientFields(params: ExplanationInput['clientParams']): ClientFieldDigests {
  const { instructions, tools } = params
  return {
    instructions: instructions === null ? null : digestText(instructions),
    tools: tools.length === 0 ? null : digestText(JSON.stringify(tools)),
  }
}

/**
 * Returns the estimated size of the request without any cuts: its size plus that of the dropped and
 * shortened content. Encoding it a second time would be exact, but too slow.
 */
function measureFullReplay(
  total: Size,
  { given, sent }: ItemSizes,
  correction: number,
): JsonObject {
  const dropped = scaleSize(subtractSizes(sumSizes(given), sumSizes(sent)), {
    bytes: 1,
    tokens: correction,
  })
  const { bytes, tokens } = addSizes(total, dropped)
  return { bytes, estimated_tokens: tokens }
}

function noteKey({ did, why, by }: Pick<Note, 'did' | 'why' | 'by'>): string {
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
