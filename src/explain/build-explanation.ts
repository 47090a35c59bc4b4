/**
 * Builds the explanation of an upstream request. Its dispositions say for each item whether it was sent,
 * changed or dropped, and why. Its summary contains everything that is not about a single item: counts,
 * sizes, the policy, other notes.
 */
import type { Json, JsonObject } from '../core/json/json.ts'
import type { Note } from '../core/note.ts'
import type { DialectName, PromptParameters } from '../core/prompt.ts'
import { digestText } from '../core/text/digest.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { listPolicyOverrides } from '../gateway/prompt/resolve-request-policy.ts'
import {
  applyTokenCorrection,
  resolveTokenCorrection,
  estimateBodyTokens,
  computeMaxRequestTokens,
  resolveRequestLimit,
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
  type ItemLists,
  type ItemSizes,
} from './item-size.ts'
import { measureRequestParts } from './request-size-by-part.ts'

export interface Explanation {
  readonly summary: ExplanationSummary
  readonly dispositions: readonly ItemDisposition[]
}

export interface ExplanationSummary extends JsonObject {
  readonly api: string
  readonly upstream: JsonObject & { readonly wire: string }
  readonly policy: JsonObject & { readonly name: string }
  /**
   * Numbers of items: those that the client sent, those from the history, and those that were sent
   * upstream.
   */
  readonly counts: JsonObject
  readonly sent: JsonObject & { readonly estimated_tokens: number }
  /** Estimated size that the request would have if no item were dropped or shortened. */
  readonly fullReplay: JsonObject
  readonly parts: JsonObject
  /** Size of each memory layer, which is also counted in `parts.added`. Absent if there are no layers. */
  readonly layers?: JsonObject
  readonly window: JsonObject
  /**
   * Factor that corrects the token estimates of items, learned from the provider's counts, e.g. 1.2. The
   * estimates in `parts` are already corrected. Absent if 1, and in rows of older versions.
   */
  readonly correction?: number
  /**
   * Digests of the client's instructions and tools. They show whether the next request changes them. Absent
   * in rows of older versions.
   */
  readonly given?: ClientFieldDigests
  /** Notes about the request or one of its fields. Notes about an item are in the item's disposition. */
  readonly notes: readonly (Note & JsonObject)[]
}

export interface ClientFieldDigests extends JsonObject {
  /** Digest of the instructions; null if the client sent none. */
  readonly instructions: string | null
  readonly tools: string | null
}

/**
 * Data about a request that its body does not show. If the client's bytes were forwarded unchanged, only
 * the body and this data are stored.
 */
export interface RequestMetadata extends JsonObject {
  readonly api: DialectName
  readonly upstream: ExplanationSummary['upstream']
  readonly policy: ExplanationSummary['policy']
  readonly window: { readonly tokens: number | null; readonly room: number | null }
  readonly correction: number
  readonly notes: ExplanationSummary['notes']
}

/** The items and fields of a request, before and after the transforms. */
export interface ExplanationInput extends ItemLists {
  /** Number of items from the history. */
  readonly historyCount: number
  /** Number of items from the client's request, including those that recall restored among them. */
  readonly requestCount: number
  /** Number of items that the client itself sent, i.e. without restored items. */
  readonly clientItemCount: number
  /** The fields as they were sent to the upstream. */
  readonly sentParams: Pick<PromptParameters, 'instructions' | 'tools'>
  /** The fields as the client sent them. */
  readonly clientParams: Pick<PromptParameters, 'instructions' | 'tools'>
  readonly bodyBytes: number
  /** Estimated tokens of the body, not yet corrected. */
  readonly estimatedTokens: number
}

export function explainPreparedRequest(
  prepared: PreparedRequest,
  request: UpstreamRequest,
  settings: Settings,
): Explanation {
  const facts = collectRequestMetadata(prepared, request, settings)
  const { clientRequest, history, prompt, originalPositions, items } = prepared
  const { items: requestItems, originalItems = requestItems } = clientRequest
  return buildExplanation(facts, {
    items,
    historyCount: history.items.length,
    requestCount: requestItems.length,
    clientItemCount: originalItems.length,
    sentItems: prompt.items,
    originalPositions,
    sentParams: prompt.params,
    clientParams: clientRequest.params,
    bodyBytes: bytesOf(request.body),
    estimatedTokens: estimateBodyTokens(prepared),
  })
}

/** Collects the facts about a request that are not in its body, e.g. the policy and the context window. */
export function collectRequestMetadata(
  prepared: PreparedRequest,
  { method, url }: UpstreamRequest,
  settings: Settings,
): RequestMetadata {
  const { clientRequest, account, provider, prompt, notes, encoded, policy } = prepared
  const { model } = prompt.params
  const limit = resolveRequestLimit(prepared)
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
    policy: describePolicy(policy, listPolicyOverrides(model, prepared, settings)),
    window: {
      tokens: limit?.tokens ?? null,
      room: limit === null ? null : computeMaxRequestTokens(limit, prepared),
    },
    correction: resolveTokenCorrection(prepared),
    notes: notes.map((note) => ({ ...note })),
  }
}

export function buildExplanation(facts: RequestMetadata, input: ExplanationInput): Explanation {
  const { api, upstream, policy, correction, notes } = facts
  const { items, sentItems, originalPositions, historyCount, sentParams } = input
  const tokens = applyTokenCorrection(input.estimatedTokens, correction)
  const initialCount = historyCount + input.requestCount
  const lists = { items, sentItems, originalPositions, notes, historyCount, initialCount }
  const sizes = measureItems(lists)
  const dispositions = deriveItemDispositions({ ...lists, sizes, wire: upstream.wire })
  const bodySize = { bytes: input.bodyBytes, tokens }
  const dropped = dispositions.filter(({ fate }) => fate === 'dropped')
  const { parts, layers } = measureRequestParts({
    sentItems,
    sizes: sizes.sent,
    originalPositions,
    droppedPositions: new Set(dropped.map(({ place }) => place)),
    params: sentParams,
    bodySize,
    correction,
  })
  const { tokens: window, room } = facts.window
  const itemNotes = new Set(dispositions.flatMap(({ notes = [] }) => notes.map(noteKey)))
  return {
    dispositions,
    summary: {
      api,
      upstream,
      policy,
      counts: {
        given: input.clientItemCount,
        remembered: historyCount + notes.filter(isRecalled).length,
        ...(items.length > initialCount ? { answered: items.length - initialCount } : {}),
        sent: sentItems.length,
      },
      sent: { bytes: bodySize.bytes, estimated_tokens: tokens },
      fullReplay: measureFullReplay(bodySize, sizes, correction),
      parts: jsonOf(parts),
      ...(layers === null ? {} : { layers: jsonOf(layers) }),
      window: {
        tokens: window,
        room: room === null ? null : Math.max(0, Math.floor(room) - tokens),
      },
      ...(correction === 1 ? {} : { correction }),
      given: digestClientFields(input.clientParams),
      // Omits notes that are already in the disposition of an item.
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
 * Returns the estimated size of the request if nothing were dropped or shortened: its size plus that of the
 * removed content. Encoding such a request would give the exact size, but is slow.
 */
function measureFullReplay(
  bodySize: Size,
  { original, sent }: ItemSizes,
  correction: number,
): JsonObject {
  const dropped = scaleSize(subtractSizes(sumSizes(original), sumSizes(sent)), {
    bytes: 1,
    tokens: correction,
  })
  const { bytes, tokens } = addSizes(bodySize, dropped)
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
