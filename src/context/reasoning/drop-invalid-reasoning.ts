/**
 * Drops reasoning that the upstream would reject, or ignore and charge for: encrypted by another account
 * or API, written after a prefix that has changed since, or rejected before. The reasoning of one answer is
 * sent completely or not at all, because each reasoning item is bound to the one before it.
 *
 * The prefix is taken from the outgoing list: dropping one answer's reasoning also invalidates later
 * reasoning that was written after it, but not reasoning that was written without it.
 *
 * This transform runs last, on the final list. All items of an answer share one `origin` object, which identifies it.
 */
import { isShortenedGatewayToolOutput } from '../../core/items/gateway-tool-items.ts'
import type { Item, Origin } from '../../core/item.ts'
import { isEncryptedReasoning } from '../../core/reasoning/is-encrypted-or-signed.ts'
import { stripReasoning } from '../../core/reasoning/strip-reasoning.ts'
import { editItems } from '../edit-items.ts'
import { findValidReasoningStart, isUnrecordedReasoning } from './find-valid-reasoning-start.ts'
import { rebuildEarlierPrompts } from './rebuild-earlier-prompts.ts'
import { startPrefixHash, type RunningPrefixHash } from './hash-prompt-prefix.ts'
import type { PipelineResult } from '../list-and-run-transforms.ts'
import type { Transform } from '../transform-interface.ts'

export interface ReasoningValidity {
  /** The API, e.g. `anthropic`, and the account that will read the reasoning. */
  readonly wire: string
  readonly account: string
  /** Hashes the prompt before the items (`computePrefixSeed`). Called only if needed. */
  readonly seed: () => string
  readonly checksPrefix: boolean
  /**
   * True if the same gateway tools were offered when the conversation had this many items. Undefined:
   * reasoning that the gateway has not recorded is assumed to be valid.
   */
  readonly hadSameTools?: (length: number) => boolean
  /** Answers up to which the upstream has rejected all reasoning. */
  readonly refusedBefore: readonly Origin[]
}

export function dropInvalidReasoning(validity: ReasoningValidity): Transform {
  return {
    name: 'keep-valid-reasoning',
    run(items, places = items.map((_, index) => index), stages = []) {
      const rejectedEnd = findRejectedEnd(items, validity.refusedBefore)
      const answers = findEncryptedAnswers(items)
      const unrecordedStart = findUnrecordedStart({ items, places, stages }, validity)
      // Most conversations have no such reasoning.
      if (rejectedEnd === 0 && unrecordedStart === 0 && answers.size === 0)
        return { items, notes: [] }
      const findFault = createFaultFinder(answers, validity)
      return editItems(items, (item, index, edited) => {
        if (index < rejectedEnd) {
          return { item: stripReasoning(item, validity.wire), why: 'reasoning-refused' }
        }
        const why =
          index < unrecordedStart && isUnrecordedReasoning(item)
            ? 'reasoning-of-another-prefix'
            : findFault(item, edited)
        return why !== null && item.type === 'reasoning' ? { item: null, why } : null
      })
    },
  }
}

/** Returns the index from which unrecorded reasoning is valid; 0 if all of it is. */
function findUnrecordedStart(
  pipeline: Pick<PipelineResult, 'items' | 'places' | 'stages'>,
  { checksPrefix, hadSameTools }: ReasoningValidity,
): number {
  const { items, places } = pipeline
  if (!checksPrefix || hadSameTools === undefined || !items.some(isUnrecordedReasoning)) return 0
  const history = rebuildEarlierPrompts(pipeline)
  const promptAt = (length: number) => (hadSameTools(length) ? history.promptAt(length) : null)
  return findValidReasoningStart(items, places, { ...history, promptAt })
}

/** Returns the start of the latest answer with one of these origins, or 0 if the list has none of them. */
function findRejectedEnd(items: readonly Item[], origins: readonly Origin[]): number {
  if (origins.length === 0) return 0
  const origin = items.findLast(
    (item) => item.origin !== undefined && origins.includes(item.origin),
  )?.origin
  return origin === undefined ? 0 : items.findIndex((item) => item.origin === origin)
}

/**
 * The answers with encrypted reasoning. The value is true if the answer is interrupted: its reasoning
 * follows an item of another answer, or a gateway tool output that has been shortened since.
 */
type EncryptedAnswers = ReadonlyMap<Origin, boolean>

function findEncryptedAnswers(items: readonly Item[]): EncryptedAnswers {
  const encrypted = new Set<Origin>()
  const started = new Set<Origin>()
  const interrupted = new Set<Origin>()
  let current: Origin | undefined
  let isResumed = false
  for (const item of items) {
    const { origin } = item
    if (origin !== current) {
      current = origin
      isResumed = origin !== undefined && started.has(origin)
      if (origin !== undefined) started.add(origin)
    }
    if (origin !== undefined && isShortenedGatewayToolOutput(item)) interrupted.add(origin)
    if (origin === undefined || item.type !== 'reasoning') continue
    if (isResumed) interrupted.add(origin)
    if (isEncryptedReasoning(item)) encrypted.add(origin)
  }
  return new Map([...encrypted].map((origin) => [origin, interrupted.has(origin)]))
}

/**
 * Returns a function that finds the fault of an item's answer, as the code of a note. It must be called for
 * the items in order; `edited` holds the items that are sent before the item.
 */
function createFaultFinder(
  answers: EncryptedAnswers,
  { wire, account, seed, checksPrefix }: ReasoningValidity,
) {
  let prefix: RunningPrefixHash | null = null
  let hashed = 0
  const faults = new Map<Origin, string | null>()
  const checkAnswer = (origin: Origin, edited: readonly Item[]): string | null => {
    if (origin.wire !== wire || origin.account !== account) return 'reasoning-of-elsewhere'
    if (!checksPrefix || origin.prefixHash === null) return null
    // Hashing starts only when an answer needs it.
    prefix ??= startPrefixHash(seed())
    for (const item of edited.slice(hashed)) prefix.add(item)
    hashed = edited.length
    const isInterrupted = answers.get(origin) === true
    return isInterrupted || prefix.hash() !== origin.prefixHash
      ? 'reasoning-of-another-prefix'
      : null
  }
  return ({ origin }: Item, edited: readonly Item[]): string | null => {
    if (origin === undefined || !answers.has(origin)) return null
    const known = faults.get(origin)
    if (known !== undefined) return known
    const fault = checkAnswer(origin, edited)
    faults.set(origin, fault)
    return fault
  }
}
