/** Updates the memory layers after an answer, for example the observations about the conversation. */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import { budgetRequestedLayers } from '../../memory/load-layer-blocks.ts'
import type { LayerQuestion } from '../../memory/memory-layer-interface.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import { mayStoreMemory } from '../history/memory-thread-and-storage-permission.ts'
import {
  buildLayerContext,
  listMemoryLayers,
  isAnyLayerRequested,
} from '../prompt/additions/load-memory-blocks.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { requestSummary } from '../summaries/request-summary.ts'
import type { AnsweredRequest, AfterAnswerWork } from './answered-request.ts'
import type { Ports } from '../dependencies-interface.ts'

type MemoryUpdatePorts = Ports<
  | 'accounts'
  | 'facts'
  | 'layers'
  | 'log'
  | 'memoryLayers'
  | 'newTurnId'
  | 'nowMs'
  | 'settings'
  | 'transport'
>

/** Returns null if no layer is requested, or if nothing of the conversation may be stored. */
export function updateMemoryLayers(
  answered: AnsweredRequest,
  ports: MemoryUpdatePorts,
): AfterAnswerWork | null {
  const { policy, clientRequest, history } = answered.prepared
  if (clientRequest.client.isTask || !isAnyLayerRequested(policy.layers, ports)) return null
  if (!mayStoreMemory(clientRequest, history, ports.settings)) return null
  return async (settled) => {
    const outcome = await settled
    // No later turn continues a failed or cancelled answer.
    if (outcome.finish !== null) await updateLayers(answered, outcome, ports)
  }
}

/** Updates the layers one by one. Never rejects: a layer that fails is logged. */
async function updateLayers(
  { prepared, caller, turnId }: AnsweredRequest,
  outcome: Outcome,
  ports: MemoryUpdatePorts,
): Promise<void> {
  const { policy, clientRequest, history, items } = prepared
  const request = { clientRequest, history, items, rules: policy.layers, turnId }
  const context = buildLayerContext(request, caller, ports)
  if (context.round === 0) return
  const askModel = (question: LayerQuestion) => answerLayerQuestion(question, prepared, ports)
  await Promise.all(
    budgetRequestedLayers(listMemoryLayers(ports), policy.layers).map(async ({ layer, tokens }) => {
      try {
        await layer.update?.({ ...context, tokens }, { outcome, askModel })
      } catch (error) {
        ports.log('warn', 'layer-not-kept', { layer: layer.name, why: errorMessage(error) })
      }
    }),
  )
}

/** Sends a layer's question to the model that also writes the summaries, and returns its text. */
async function answerLayerQuestion(
  { instructions, input }: LayerQuestion,
  { policy, clientRequest }: PreparedRequest,
  ports: Ports<'accounts' | 'log' | 'memoryLayers' | 'settings' | 'transport'>,
): Promise<string> {
  const model = policy.summaries.model ?? clientRequest.params.model
  const content = [{ type: 'input_text', text: input }]
  const question = () => ({ instructions, input: [{ type: 'message', role: 'user', content }] })
  const sending = {
    targets: routeModel(ports, model, clientRequest.dialect),
    model,
    onCall: () => undefined,
    isDisconnected: () => false,
  }
  return (await requestSummary({ before: null, chapters: [''], question }, sending, ports)).text
}
