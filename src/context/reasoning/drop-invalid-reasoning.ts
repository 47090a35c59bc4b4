/**
 * Leaves out reasoning that its reader would refuse, or drop and charge for: sealed elsewhere, made
 * behind another prefix than it stands behind now, or refused before. Of one answer all reasoning is
 * sent or none, because what one piece of it stands on is the piece before.
 *
 * The prefix is that of the list which goes out: where something is left out here, reasoning that was
 * made behind it is left out as well, and what was made without it is not.
 *
 * It comes last, when the list is otherwise as it is sent. An answer is told by its origin, which all
 * its items share as one object.
 */
import { isShortenedGatewayOutput } from '../../core/items/gateway-tool-items.ts'
import type { Item, Origin } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { isEncryptedReasoning } from '../../core/reasoning/is-encrypted-or-signed.ts'
import { stripReasoning } from '../../core/reasoning/strip-reasoning.ts'
import { findValidReasoningStart, isUnrecordedReasoning } from './find-valid-reasoning-start.ts'
import { recomputePrefixes } from './recompute-prefixes.ts'
import { startPrefixHash, type RunningPrefixHash } from './hash-prompt-prefix.ts'
import type { PipelineResult } from '../list-and-run-transforms.ts'
import type { Transform } from '../transform-interface.ts'

export interface ReasoningValidity {
  /** Who is to read it. */
  readonly wire: string
  readonly account: string
  /** What stands in front of the items (`computePrefixSeed`), if anybody needs to know. */
  readonly seed: () => string
  readonly checksPrefix: boolean
  /**
   * Whether the same gateway tools were offered when the conversation had this many items. Undefined:
   * reasoning that the gateway has not recorded is believed to be valid.
   */
  readonly hadSameTools?: (length: number) => boolean
  /** Answers before which the reader has refused all reasoning. */
  readonly refusedBefore: readonly Origin[]
}

export function dropInvalidReasoning(validity: ReasoningValidity): Transform {
  return {
    name: 'keep-valid-reasoning',
    run(items, places = items.map((_, at) => at), stages = []) {
      const border = borderOf(items, validity.refusedBefore)
      const answers = sealedAnswers(items)
      const step = stepBefore({ items, places, stages }, validity)
      // Most conversations have nothing of the kind.
      if (border === 0 && step === 0 && answers.size === 0) return { items, notes: [] }
      const faultOf = judge(answers, validity)
      const kept: Item[] = []
      const notes: Note[] = []
      for (const [at, item] of items.entries()) {
        const isRefused = at < border
        const why = isRefused
          ? 'reasoning-refused'
          : at < step && isUnrecordedReasoning(item)
            ? 'reasoning-of-another-prefix'
            : faultOf(item, kept)
        const fate = isRefused ? stripReasoning(item, validity.wire) : keptUnless(why, item)
        if (fate !== null) kept.push(fate)
        if (fate === item || why === null) continue
        notes.push({ did: fate === null ? 'dropped' : 'changed', at, why })
      }
      return notes.length === 0 ? { items, notes } : { items: kept, notes }
    },
  }
}

/** Where reasoning that the gateway has not recorded becomes valid; 0 if all of it is. */
function stepBefore(
  pipeline: Pick<PipelineResult, 'items' | 'places' | 'stages'>,
  { checksPrefix, hadSameTools }: ReasoningValidity,
): number {
  const { items, places } = pipeline
  if (!checksPrefix || hadSameTools === undefined || !items.some(isUnrecordedReasoning)) return 0
  const past = recomputePrefixes(pipeline)
  const sentOf = (length: number) => (hadSameTools(length) ? past.sentOf(length) : null)
  return findValidReasoningStart(items, places, { ...past, sentOf })
}

function keptUnless(fault: string | null, item: Item): Item | null {
  return fault !== null && item.type === 'reasoning' ? null : item
}

/** Where the newest of the answers begins; 0 if none is there. */
function borderOf(items: readonly Item[], origins: readonly Origin[]): number {
  if (origins.length === 0) return 0
  const newest = items.findLastIndex(({ origin }) => isOneOf(origin, origins))
  const origin = items[newest]?.origin
  return origin === undefined ? 0 : items.findIndex((item) => item.origin === origin)
}

function isOneOf(origin: Origin | undefined, origins: readonly Origin[]): boolean {
  return origin !== undefined && origins.includes(origin)
}

/**
 * The answers that hold sealed reasoning, and of each whether it is torn: whether reasoning of it
 * stands behind something that was not part of it, or not as it is now.
 */
type Answers = ReadonlyMap<Origin, boolean>

function sealedAnswers(items: readonly Item[]): Answers {
  const sealed = new Set<Origin>()
  const begun = new Set<Origin>()
  const torn = new Set<Origin>()
  let current: Origin | undefined
  let isAgain = false
  for (const item of items) {
    const { origin } = item
    if (origin !== current) {
      current = origin
      isAgain = origin !== undefined && begun.has(origin)
      if (origin !== undefined) begun.add(origin)
    }
    // What the house has answered in the middle of it was longer then.
    if (origin !== undefined && isShortenedGatewayOutput(item)) torn.add(origin)
    if (origin === undefined || item.type !== 'reasoning') continue
    if (isAgain) torn.add(origin)
    if (isEncryptedReasoning(item)) sealed.add(origin)
  }
  return new Map([...sealed].map((origin) => [origin, torn.has(origin)]))
}

/** Says of each item, asked in order, what is wrong with the answer that it is part of. */
function judge(answers: Answers, { wire, account, seed, checksPrefix }: ReasoningValidity) {
  const isOwn = (origin: Origin) => origin.wire === wire && origin.account === account
  const isBound = (origin: Origin) => checksPrefix && isOwn(origin) && origin.prefixHash !== null
  let prefix: RunningPrefixHash | null = null
  const faults = new Map<Origin, string | null>()
  let added = 0
  const faultIn = (origin: Origin, kept: readonly Item[]): string | null => {
    if (!isOwn(origin)) return 'reasoning-of-elsewhere'
    if (!isBound(origin)) return null
    // Nothing is hashed but what stands in front of an answer that is bound to it.
    prefix ??= startPrefixHash(seed())
    for (const item of kept.slice(added)) prefix.add(item)
    added = kept.length
    const isTorn = answers.get(origin) === true
    return isTorn || prefix.hash() !== origin.prefixHash ? 'reasoning-of-another-prefix' : null
  }
  /** `kept` is what is sent in front of the item. */
  return ({ origin }: Item, kept: readonly Item[]): string | null => {
    if (origin === undefined || !answers.has(origin)) return null
    const known = faults.get(origin)
    if (known !== undefined) return known
    const fault = faultIn(origin, kept)
    faults.set(origin, fault)
    return fault
  }
}
