/**
 * Lets the model that is asked sum up its own conversation. Each chapter is a request like any
 * other, of its own and kept nowhere.
 */
import {
  buildCompactionPrompt,
  type CompactionPlan,
} from '../../context/summaries/plan-compaction.ts'
import type { PolicyOverrides } from '../../core/context-policy.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { foldAnswerOutcome, type Outcome } from '../../core/fold-answer-outcome.ts'
import { textOf } from '../../core/item.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { ZERO_TOKEN_USAGE, addTokenUsage } from '../../core/stream/add-token-usage.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import { NO_HISTORY } from '../history/loaded-history.ts'
import { prepareRequest } from '../prompt/prepare-request.ts'
import { readBufferedAnswer } from '../send/read-buffered-answer.ts'
import { sendWithFallback, type SendOptions } from '../send/send-with-fallback.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface GeneratedSummary {
  readonly text: string
  /** Of all chapters together. */
  readonly usage: TokenUsage
}

export interface SummaryModelOptions extends Pick<
  SendOptions,
  'targets' | 'onCall' | 'isDisconnected'
> {
  readonly model: string
}

export interface SummaryMaterial extends Pick<CompactionPlan, 'before' | 'chapters'> {
  /** How the model is asked for it; as for a compaction, if nobody says. */
  readonly question?: typeof buildCompactionPrompt
}

/** Throws a GatewayError when the model does not give a whole summary. */
export async function requestSummary(
  { before, chapters, question = buildCompactionPrompt }: SummaryMaterial,
  asked: SummaryModelOptions,
  ports: Ports<'log' | 'memoryLayers' | 'settings' | 'transport'>,
): Promise<GeneratedSummary> {
  let text = before
  let usage = ZERO_TOKEN_USAGE
  for (const chapter of chapters) {
    const outcome = await askAbout(question(text, chapter), asked, ports)
    text = summaryOf(outcome)
    usage = addTokenUsage(usage, outcome.usage)
  }
  return { text: text ?? '', usage }
}

async function askAbout(
  question: ReturnType<typeof buildCompactionPrompt>,
  { model, ...asked }: SummaryModelOptions,
  ports: Ports<'log' | 'memoryLayers' | 'settings' | 'transport'>,
): Promise<Outcome> {
  const body = { model, ...question, store: false }
  const clientRequest = { ...responsesDialect.parse(body), policyOverrides: ALL_OF_IT }
  const prepare = (target: UpstreamTarget) =>
    prepareRequest(target, { clientRequest, history: NO_HISTORY }, ports)
  const { events } = await readBufferedAnswer(await sendWithFallback({ ...asked, prepare }, ports))
  const fold = foldAnswerOutcome()
  for (const event of events) fold.push(event)
  return fold.currentOutcome()
}

/** A summary is of all that it is given, and of nothing that stands beside a conversation. */
const ALL_OF_IT: PolicyOverrides = {
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
