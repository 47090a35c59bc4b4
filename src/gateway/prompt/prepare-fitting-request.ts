/**
 * A request made ready: a conversation that has grown too long is compacted or cut, as far as the
 * request wants it, and a request that no model is to answer has its answer already.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Note } from '../../core/note.ts'
import { NOTHING_USED } from '../../core/stream/add-token-usage.ts'
import type { Inbound } from '../../core/client-request.ts'
import type { History } from '../history/load-history-by-id.ts'
import { refuseOrphans } from '../history/reject-orphan-outputs.ts'
import type { AnswerEvents } from '../send/answer-event-source-interface.ts'
import type { World } from '../dependencies-interface.ts'
import type { Target } from '../../upstream/accounts-and-model-routing.ts'
import type { Answer } from '../send/upstream-answer-types.ts'
import type { Asking } from '../send/send-with-fallback.ts'
import { compactIfDue, toldWith, withCompaction } from '../summaries/compact-conversation.ts'
import { fit } from './size/fit-to-window.ts'
import { ownAnswer } from '../send/create-local-answer.ts'
import { prepareFor, type Prepared } from './prepare-request.ts'
import { summariseFirst } from '../summaries/summarize-before-sending.ts'

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
