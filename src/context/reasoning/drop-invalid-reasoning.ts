/**
 * Drops reasoning that the upstream would reject, or ignore and charge for. There are four reasons: another account or
 * API has encrypted the reasoning; the items before its answer (the prefix) have changed since it was written; the
 * model has rejected it before; or another model wrote it, and the account has rejected such reasoning before. The
 * reasoning of one answer is sent completely or not at all, because each reasoning item is bound to the reasoning item
 * before it.
 *
 * This transform runs last, because it reads the prefix of each answer from the final list. After it has dropped the
 * reasoning of one answer, the reasoning of a later answer is invalid, too, if the later answer was written while the
 * dropped reasoning was in the prompt.
 *
 * All items of an answer share one `origin` object, which identifies the answer.
 */
import { isShortenedGatewayToolOutput } from '../../core/items/gateway-tool-items.ts'
import type { Item, Origin } from '../../core/item.ts'
import { isEncryptedOrSigned } from '../../core/reasoning/is-encrypted-or-signed.ts'
import { stripReasoning } from '../../core/reasoning/strip-reasoning.ts'
import { editItems } from '../edit-items.ts'
import {
  findValidUnrecordedReasoningStart,
  isUnrecordedReasoning,
} from './find-valid-unrecorded-reasoning-start.ts'
import { rebuildEarlierPrompts } from './rebuild-earlier-prompts.ts'
import { startPrefixHash, type RunningPrefixHash } from './hash-prompt-prefix.ts'
import type { PipelineResult } from '../list-and-run-transforms.ts'
import type { Transform } from '../transform-interface.ts'

export interface ReasoningCheckOptions {
  /**
   * The API of the upstream, e.g. `anthropic`. An upstream cannot read reasoning that another API or account has
   * encrypted.
   */
  readonly wire: string
  readonly account: string
  /** The name of the model that is requested. */
  readonly model: string
  /**
   * Returns the hash of the request fields before the items (`computePrefixSeed`). Called only if a prefix is checked.
   */
  readonly computeSeed: () => string
  /** True if the model rejects or ignores reasoning after a changed prefix. */
  readonly checksPrefix: boolean
  /**
   * True if the request with the first `length` items of the conversation offered the same gateway tools as the current
   * one. Without this function, reasoning that the gateway has not recorded is assumed to be valid.
   */
  readonly hadSameGatewayTools?: (length: number) => boolean
  /**
   * Answers of this account that were generated without any earlier reasoning, because the upstream had rejected it. If
   * the requested model generated such an answer, all reasoning before the answer is dropped. Answers of other models do
   * not count, because another model may reject what the requested model accepts.
   */
  readonly answersAfterRejection: readonly Origin[]
}

export function dropInvalidReasoning(options: ReasoningCheckOptions): Transform {
  return {
    name: 'keep-valid-reasoning',
    run(items, originalPositions = [...items.keys()], transforms = []) {
      const rejectedEnd = findRejectedEnd(items, options)
      const isOfRejectedModel = createRejectedModelCheck(items, options)
      const answers = findEncryptedAnswers(items)
      const pipeline = { items, originalPositions, transforms }
      const unrecordedStart = findUnrecordedStart(pipeline, options)
      // Returns early for most conversations, which have no reasoning that could be invalid.
      if (
        rejectedEnd === 0 &&
        isOfRejectedModel === null &&
        unrecordedStart === 0 &&
        answers.size === 0
      )
        return { items, notes: [] }
      const findFault = createFaultFinder(answers, options)
      return editItems(items, (item, index, edited) => {
        if (isOfRejectedModel?.(item) === true) {
          const replacement = stripReasoning(item, options.wire)
          return { replacement, why: 'reasoning-of-another-model' }
        }
        if (index < rejectedEnd) {
          return { replacement: stripReasoning(item, options.wire), why: 'reasoning-refused' }
        }
        const why =
          index < unrecordedStart && isUnrecordedReasoning(item)
            ? 'reasoning-of-another-prefix'
            : findFault(item, edited)
        return why !== null && item.type === 'reasoning' ? { replacement: null, why } : null
      })
    },
  }
}

/**
 * Returns the index from which unrecorded reasoning (stored only by the client, which sends it back) is sent; 0 if all
 * of it is valid, or if its prefixes are not checked.
 */
function findUnrecordedStart(
  pipeline: Pick<PipelineResult, 'items' | 'originalPositions' | 'transforms'>,
  { checksPrefix, hadSameGatewayTools }: ReasoningCheckOptions,
): number {
  const { items, originalPositions } = pipeline
  if (!checksPrefix || hadSameGatewayTools === undefined || !items.some(isUnrecordedReasoning))
    return 0
  const history = rebuildEarlierPrompts(pipeline)
  const rebuildPrompt = (length: number) =>
    hadSameGatewayTools(length) ? history.rebuildPrompt(length) : null
  return findValidUnrecordedReasoningStart(items, originalPositions, { ...history, rebuildPrompt })
}

/**
 * Returns the index before which all reasoning is dropped because the model has rejected it: the start of its latest
 * answer after a rejection, or 0 if there is no such answer.
 */
function findRejectedEnd(
  items: readonly Item[],
  { answersAfterRejection, model }: ReasoningCheckOptions,
): number {
  const origins = answersAfterRejection.filter((origin) => origin.model === model)
  if (origins.length === 0) return 0
  const origin = items.findLast(
    (item) => item.origin !== undefined && origins.includes(item.origin),
  )?.origin
  return origin === undefined ? 0 : items.findIndex((item) => item.origin === origin)
}

/**
 * Returns a check whether an item has reasoning of another model than the requested one; null if the account may accept
 * such reasoning. Some accounts bind reasoning to its model, e.g. Azure. This shows when a model rejects a prompt with
 * reasoning of another model.
 */
function createRejectedModelCheck(
  items: readonly Item[],
  { wire, account, model, answersAfterRejection }: ReasoningCheckOptions,
): ((item: Item) => boolean) | null {
  const isFromOtherModel = (item: Item, reader: string): boolean =>
    item.origin !== undefined &&
    item.origin.wire === wire &&
    item.origin.account === account &&
    item.origin.model !== reader &&
    stripReasoning(item, wire) !== item
  const bindsToModel = answersAfterRejection.some((rejected) => {
    const start = items.findIndex(({ origin }) => origin === rejected)
    return items.slice(0, Math.max(start, 0)).some((item) => isFromOtherModel(item, rejected.model))
  })
  return bindsToModel ? (item) => isFromOtherModel(item, model) : null
}

/**
 * The answers with encrypted reasoning, by their origin. The value is true if the answer itself has changed, so that
 * its reasoning is invalid: another item was inserted before some of its reasoning, or an output of a gateway tool in
 * it was shortened later.
 */
type EncryptedAnswers = ReadonlyMap<Origin, boolean>

function findEncryptedAnswers(items: readonly Item[]): EncryptedAnswers {
  const encrypted = new Set<Origin>()
  const started = new Set<Origin>()
  const interrupted = new Set<Origin>()
  let previous: Origin | undefined
  let isResumed = false
  for (const item of items) {
    const { origin } = item
    if (origin !== previous) isResumed = origin !== undefined && started.has(origin)
    previous = origin
    if (origin === undefined) continue
    started.add(origin)
    const isReasoning = item.type === 'reasoning'
    if (isShortenedGatewayToolOutput(item) || (isReasoning && isResumed)) interrupted.add(origin)
    if (isReasoning && isEncryptedOrSigned(item)) encrypted.add(origin)
  }
  return new Map([...encrypted].map((origin) => [origin, interrupted.has(origin)]))
}

/**
 * Returns a function that checks whether the reasoning of an item's answer is valid: it returns `null` if so, and
 * otherwise the code of the note. The function must be called for the items in order, because it hashes the prefix item
 * by item. `edited` contains the items that are sent before the item.
 */
function createFaultFinder(
  answers: EncryptedAnswers,
  { wire, account, computeSeed, checksPrefix }: ReasoningCheckOptions,
) {
  let prefix: RunningPrefixHash | null = null
  let hashed = 0
  const faults = new Map<Origin, string | null>()
  const checkAnswer = (origin: Origin, edited: readonly Item[]): string | null => {
    if (origin.wire !== wire || origin.account !== account) return 'reasoning-of-elsewhere'
    if (!checksPrefix || origin.prefixHash === null) return null
    // Hashing is expensive, so it starts only with the first answer whose prefix is checked.
    prefix ??= startPrefixHash(computeSeed())
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
