/**
 * A request made ready: a conversation that has grown too long is compacted or cut, as far as the
 * request wants it, and a request that no model is to answer has its answer already.
 */
import type { Caller } from '../conversation/caller.ts'
import type { Note } from '../conversation/note.ts'
import { NOTHING_USED } from '../conversation/usage.ts'
import type { Inbound } from '../dialect/dialect.ts'
import type { History } from '../history/load-history.ts'
import { refuseOrphans } from '../history/refuse-orphans.ts'
import type { AnswerEvents } from '../stream/answer-events.ts'
import type { World } from '../world.ts'
import type { Target } from './accounts.ts'
import type { Answer } from './answer.ts'
import type { Asking } from './attempts.ts'
import { compactIfDue, toldWith, withCompaction } from './compact.ts'
import { fit } from './fit.ts'
import { ownAnswer } from './own-answer.ts'
import { prepareFor, type Prepared } from './prepare.ts'
import { summariseFirst } from './summarise-first.ts'

export interface Readied {
  /** For the target that is asked first. */
  readonly first: Prepared
  /** For any of them. */
  readonly prepare: (target: Target) => Prepared
  /** The answer, if it needs no model. */
  readonly own: Answer | null
}

type Targets = Omit<Asking, 'prepare' | 'targets'> & {
  readonly targets: readonly [Target, ...Target[]]
  readonly caller: Caller
}

export async function readied(
  inbound: Inbound,
  remembered: History,
  turnId: string,
  asking: Targets,
  world: World,
): Promise<Readied> {
  const [target] = asking.targets
  refuseOrphans(remembered.items, inbound)
  const unsummarised = prepareFor(target, { inbound, history: remembered }, world)
  if (!inbound.generates) return whole(unsummarised, ownAnswer([], NOTHING_USED))
  const history = await summariseFirst(unsummarised, asking.caller, asking, world)
  const first =
    history === remembered ? unsummarised : prepareFor(target, { inbound, history }, world)
  const { model } = inbound.params
  const compacted = await compactIfDue(first, { ...asking, model }, turnId, world)
  if (compacted === null || compacted === 'failed') {
    const prepareOther = (other: Target) =>
      fit(prepareFor(other, { inbound, history }, world), world)
    const fitting = fit(first, world)
    const noted = { ...fitting, notes: [...fitting.notes, FAILED] }
    return ready(target, compacted === null ? fitting : noted, prepareOther)
  }
  if (inbound.context?.compactNow === true) {
    return whole(first, ownAnswer([compacted.item], compacted.usage))
  }
  const shorter = withCompaction(inbound, compacted)
  const prepareOther = (other: Target) =>
    toldWith(
      fit(prepareFor(other, { inbound: shorter, history }, world), world),
      compacted,
      inbound,
    )
  return ready(target, prepareOther(target), prepareOther)
}

const FAILED: Note = {
  did: 'dropped',
  field: 'context_management',
  why: 'compaction-failed',
  by: 'compaction',
  detail: 'No summary could be made, so the conversation was sent as it is.',
}

function ready(target: Target, first: Prepared, prepareOther: Readied['prepare']): Readied {
  return { first, prepare: (to) => (to === target ? first : prepareOther(to)), own: null }
}

function whole(first: Prepared, events: AnswerEvents): Readied {
  return { first, prepare: () => first, own: { prepared: first, events } }
}
