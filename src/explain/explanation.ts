/**
 * What a request came to, told from the very thing that is sent. It is told in two parts: what became
 * of each item, which grows with the conversation, and everything else.
 */
import type { Json, JsonObject } from '../conversation/json.ts'
import type { Note } from '../conversation/note.ts'
import type { Params } from '../conversation/prompt.ts'
import { digest } from '../digest.ts'
import type { Settings } from '../settings.ts'
import { correctionOf, roomIn, tokensOf, windowOf } from '../upstream/budget.ts'
import { levelsFor } from '../upstream/policy-for.ts'
import type { Prepared } from '../upstream/prepare.ts'
import type { UpstreamRequest } from '../transport/transport.ts'
import { fatesOf, type Fate } from './fates.ts'
import { partsOf } from './parts-of.ts'
import { policyTold } from './policy-told.ts'
import { minus, plus, sumOf, times, weightsOf, type Weight, type Weights } from './weight-of.ts'

export interface Explanation {
  readonly about: About
  readonly fates: readonly Fate[]
}

export interface About extends JsonObject {
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
  readonly given?: Given
  /** The notes that are about no item. */
  readonly notes: readonly (Note & JsonObject)[]
}

export interface Given extends JsonObject {
  /** A digest; `null` for none. */
  readonly instructions: string | null
  readonly tools: string | null
}

export function explanationOf(
  prepared: Prepared,
  request: UpstreamRequest,
  settings: Settings,
): Explanation {
  const { inbound, history, account, provider, prompt, places, items, notes, encoded } = prepared
  const { items: asked, given = asked } = inbound
  const bytes = bytesOf(request.body)
  const tokens = tokensOf(prepared)
  const remembered = history.items.length
  const weights = weightsOf({ items, sent: prompt.items, places })
  const told = { items, weights, remembered, given: remembered + asked.length, notes }
  const fates = fatesOf({ ...told, sent: prompt.items, places, wire: provider.wire })
  const total = { bytes, tokens }
  const correction = correctionOf(prepared)
  const unsaid = new Set(fates.filter(({ fate }) => fate === 'dropped').map(({ place }) => place))
  const { parts, layers } = partsOf({
    items: prompt.items,
    weights: weights.sent,
    places,
    unsaid,
    params: prompt.params,
    total,
    correction,
  })
  const window = windowOf(prepared)
  const shown = new Set(fates.flatMap((fate) => fate.notes?.map(nameOf) ?? []))
  return {
    fates,
    about: {
      api: inbound.dialect,
      upstream: {
        name: account.name,
        wire: account.wire,
        model: prompt.params.model,
        method: request.method,
        url: request.url,
        unchanged: encoded.bytes !== undefined,
      },
      policy: policyTold(
        prepared.policy,
        levelsFor(prompt.params.model, inbound, history, settings),
      ),
      counts: {
        given: given.length,
        remembered: remembered + notes.filter(isRecalled).length,
        ...(items.length > told.given ? { answered: items.length - told.given } : {}),
        sent: prompt.items.length,
      },
      sent: { bytes, estimated_tokens: tokens },
      fullReplay: fullReplayOf(total, weights, correction),
      parts: jsonOf(parts),
      ...(layers === null ? {} : { layers: jsonOf(layers) }),
      window: {
        tokens: window,
        room: window === null ? null : Math.max(0, Math.floor(roomIn(window, prepared)) - tokens),
      },
      ...(correction === 1 ? {} : { correction }),
      given: givenOf(inbound.params),
      // Those on an item stand with it.
      notes: notes
        .filter(
          (note) => note.at === undefined || note.field !== undefined || !shown.has(nameOf(note)),
        )
        .map((note) => ({ ...note })),
    },
  }
}

function givenOf({ instructions, tools }: Params): Given {
  return {
    instructions: instructions === null ? null : digest(instructions),
    tools: tools.length === 0 ? null : digest(JSON.stringify(tools)),
  }
}

/** What was left out is added, without saying it in the wire: for that it would be encoded twice. */
function fullReplayOf(total: Weight, { given, sent }: Weights, correction: number): JsonObject {
  const lost = times(minus(sumOf(given), sumOf(sent)), { bytes: 1, tokens: correction })
  const { bytes, tokens } = plus(total, lost)
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
