/**
 * Lets the model that is asked sum up its own conversation. Each chapter is a request like any
 * other, of its own and kept nowhere.
 */
import type { Usage } from '../../core/stream-event.ts'
import { textOf } from '../../core/item.ts'
import { foldOutcome, type Outcome } from '../../core/fold-answer-outcome.ts'
import type { Wishes } from '../../core/context-policy.ts'
import { NOTHING_USED, usedTogether } from '../../core/stream/add-token-usage.ts'
import type { Target } from '../../upstream/accounts-and-model-routing.ts'
import { ask, type Asking } from '../send/send-with-fallback.ts'
import { responses } from '../../dialects/responses/responses-dialect.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { NO_HISTORY } from '../history/load-history-by-id.ts'
import { prepareFor } from '../prompt/prepare-request.ts'
import { readAnswer } from '../send/read-buffered-answer.ts'
import { chapterQuestion, type CompactionPlan } from '../../context/summaries/plan-compaction.ts'
import type { World } from '../dependencies-interface.ts'

export interface Summary {
  readonly text: string
  /** Of all chapters together. */
  readonly usage: Usage
}

export interface Summarising extends Pick<Asking, 'targets' | 'onCall' | 'isGone'> {
  readonly model: string
}

export interface SummingUp extends Pick<CompactionPlan, 'before' | 'chapters'> {
  /** How the model is asked for it; as for a compaction, if nobody says. */
  readonly question?: typeof chapterQuestion
}

/** Throws a GatewayError when the model does not give a whole summary. */
export async function summarise(
  { before, chapters, question = chapterQuestion }: SummingUp,
  asked: Summarising,
  world: World,
): Promise<Summary> {
  let text = before
  let usage = NOTHING_USED
  for (const chapter of chapters) {
    const outcome = await askAbout(question(text, chapter), asked, world)
    text = summaryOf(outcome)
    usage = usedTogether(usage, outcome.usage)
  }
  return { text: text ?? '', usage }
}

async function askAbout(
  question: ReturnType<typeof chapterQuestion>,
  { model, ...asked }: Summarising,
  world: World,
): Promise<Outcome> {
  const body = { model, ...question, store: false }
  const inbound = { ...responses.parse(body), wishes: ALL_OF_IT }
  const prepare = (target: Target) => prepareFor(target, { inbound, history: NO_HISTORY }, world)
  const { events } = await readAnswer(await ask({ ...asked, prepare }, world))
  const fold = foldOutcome()
  for (const event of events) fold.push(event)
  return fold.now()
}

/** A summary is of all that it is given, and of nothing that stands beside a conversation. */
const ALL_OF_IT: Wishes = {
  policy: 'replay',
  notes: { mode: 'replace', entries: [] },
  layers: { workingMemory: false, observations: false, facts: false },
  summaries: { trigger: 'off' },
}

function summaryOf({ items, finish, failure }: Outcome): string {
  if (failure !== null) throw new GatewayError(failure)
  const text = items.map((item) => (item.type === 'message' ? textOf(item.content) : '')).join('')
  if (finish === 'stop' && text.trim() !== '') return text.trim()
  throw new GatewayError(
    'upstream_broken',
    'The model gave no whole summary of the conversation, so it was left as it is.',
  )
}
