/** Updates the memory layers after an answer, e.g. adds new observations about the conversation. */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import { budgetEnabledLayers, isAnyLayerEnabled } from '../../memory/load-layer-blocks.ts'
import type { LayerModelRequest } from '../../memory/memory-layer-interface.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import type { Ports } from '../dependencies-interface.ts'
import { mayStoreMemory } from '../history/memory-thread-and-storage-permission.ts'
import {
  buildLayerContext,
  listMemoryLayers,
  type LayerContextPorts,
} from '../prompt/additions/load-memory-blocks.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { requestSummary, type SummaryModelPorts } from '../summaries/request-summary.ts'
import type { AnsweredRequest, AfterAnswerWork } from './run-tasks-after-answer.ts'

type MemoryUpdatePorts = LayerContextPorts & SummaryModelPorts & Ports<'accounts'>

/** Returns the work of the update; null if no layer is on, for task requests, or if no memory may be stored. */
export function updateMemoryLayers(
  answered: AnsweredRequest,
  ports: MemoryUpdatePorts,
): AfterAnswerWork | null {
  const { policy, clientRequest, history } = answered.prepared
  if (clientRequest.client.isTask) return null
  if (!isAnyLayerEnabled(listMemoryLayers(ports), policy.layers)) return null
  if (!mayStoreMemory(clientRequest, history, ports.settings)) return null
  return async (settled) => {
    const outcome = await settled
    // A failed or cancelled answer is not remembered, because no later turn continues it.
    if (outcome.finish !== null) await updateLayers(answered, outcome, ports)
  }
}

/** Updates all layers that the policy turns on. A failed update is logged and does not affect the other layers. */
async function updateLayers(
  { prepared, caller, turnId }: AnsweredRequest,
  outcome: Outcome,
  ports: MemoryUpdatePorts,
): Promise<void> {
  const { policy, clientRequest, history, items } = prepared
  const request = { clientRequest, history, items, rules: policy.layers, turnId }
  const context = buildLayerContext(request, caller, ports)
  if (context.round === 0) return
  const askModel = (question: LayerModelRequest) => answerLayerQuestion(question, prepared, ports)
  await Promise.all(
    budgetEnabledLayers(listMemoryLayers(ports), policy.layers).map(
      async ({ layer, tokenLimit }) => {
        try {
          await layer.update?.({ ...context, tokenLimit }, { outcome, askModel })
        } catch (error) {
          ports.log('warn', 'layer-not-kept', { layer: layer.name, why: errorMessage(error) })
        }
      },
    ),
  )
}

/** Sends a layer's question to the model that also writes the summaries, and returns the model's text. */
async function answerLayerQuestion(
  { instructions, input }: LayerModelRequest,
  { policy, clientRequest }: PreparedRequest,
  ports: MemoryUpdatePorts,
): Promise<string> {
  const model = policy.summaries.model ?? clientRequest.params.model
  const content = [{ type: 'input_text', text: input }]
  const buildPrompt = () => ({ instructions, input: [{ type: 'message', role: 'user', content }] })
  const sending = {
    targets: routeModel(ports, model, clientRequest),
    model,
    onCall: () => undefined,
    isDisconnected: () => false,
  }
  return (
    await requestSummary({ previousSummary: null, chapters: [''], buildPrompt }, sending, ports)
  ).text
}
