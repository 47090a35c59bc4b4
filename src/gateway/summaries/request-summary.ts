/**
 * Requests the text of a summary from a model. One upstream request is sent for each chapter (part) of the
 * conversation; it includes the summary of the earlier chapters. The answers are not stored as turns.
 */
import { carryOverPlan } from '../../context/summaries/carry-over-plan.ts'
import {
  buildCompactionPrompt,
  type CompactionPlan,
} from '../../context/summaries/plan-compaction.ts'
import type { PolicyOverrides } from '../../core/context-policy.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { createOutcomeCollector, type Outcome } from '../../core/collect-answer-outcome.ts'
import { textOf } from '../../core/item.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { ZERO_TOKEN_USAGE, addTokenUsage } from '../../core/stream/add-token-usage.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import type { Ports } from '../dependencies-interface.ts'
import { NO_HISTORY } from '../history/loaded-history.ts'
import type { PlanPorts } from '../prompt/list-prompt-transforms.ts'
import { prepareRequest } from '../prompt/prepare-request.ts'
import { readBufferedAnswer } from '../send/read-buffered-answer.ts'
import { sendWithFallback, type SendOptions } from '../send/send-with-fallback.ts'

export interface GeneratedSummary {
  readonly text: string
  /** The total tokens of the requests for all chapters. */
  readonly usage: TokenUsage
}

export type SummaryModelPorts = PlanPorts & Ports<'log' | 'transport'>

export interface SummaryModelOptions extends Pick<
  SendOptions,
  'targets' | 'onCall' | 'isDisconnected'
> {
  readonly model: string
}

export interface SummaryInput extends Pick<CompactionPlan, 'previousSummary' | 'chapters'> {
  /** Builds the prompt for a chapter. The default is the prompt for a compaction. */
  readonly buildPrompt?: typeof buildCompactionPrompt
}

/** Returns the summary of all chapters. Throws a GatewayError if the model does not finish it or writes no text. */
export async function requestSummary(
  { previousSummary, chapters, buildPrompt = buildCompactionPrompt }: SummaryInput,
  options: SummaryModelOptions,
  ports: SummaryModelPorts,
): Promise<GeneratedSummary> {
  let text = previousSummary
  let usage = ZERO_TOKEN_USAGE
  for (const chapter of chapters) {
    const outcome = await requestChapter(buildPrompt(text, chapter), options, ports)
    text = carryOverPlan(text, readSummaryText(outcome))
    usage = addTokenUsage(usage, outcome.usage)
  }
  return { text: text ?? '', usage }
}

async function requestChapter(
  chapterPrompt: ReturnType<typeof buildCompactionPrompt>,
  { model, ...sending }: SummaryModelOptions,
  ports: SummaryModelPorts,
): Promise<Outcome> {
  const body = { model, ...chapterPrompt, store: false }
  const clientRequest = { ...responsesDialect.parse(body), policyOverrides: PLAIN_POLICY }
  const prepare = (target: UpstreamTarget) =>
    prepareRequest(target, { clientRequest, history: NO_HISTORY }, ports)
  const answer = await sendWithFallback({ ...sending, prepare }, ports)
  const { events } = await readBufferedAnswer(answer)
  const fold = createOutcomeCollector()
  for (const event of events) fold.push(event)
  return fold.currentOutcome()
}

/** Policy overrides, so that a chapter is sent unchanged and without the operator's texts, memory layers or summaries. */
const PLAIN_POLICY: PolicyOverrides = {
  policy: 'replay',
  notes: { mode: 'replace', entries: [] },
  layers: { workingMemory: false, observations: false, facts: false },
  summaries: { trigger: 'off' },
}

/** The maximum tokens of a chapter if the model's window is unknown: about half of 128,000. */
export const DEFAULT_CHAPTER_TOKENS = 60_000

function readSummaryText({ items, finish, failure }: Outcome): string {
  if (failure !== null) throw new GatewayError(failure)
  const text = items.map((item) => (item.type === 'message' ? textOf(item.content) : '')).join('')
  if (finish === 'stop' && text.trim() !== '') return text.trim()
  throw new GatewayError(
    'upstream_broken',
    'The model gave no whole summary of the conversation, so it was left as it is.',
  )
}
