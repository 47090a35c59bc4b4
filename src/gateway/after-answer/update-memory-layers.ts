/** What layers keep of an answer, once it is given, which is nobody's business but their own. */
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

/** Layers are told of an answer behind its end, where anything of it may be kept. */
export function updateMemoryLayers(
  answered: AnsweredRequest,
  ports: Ports<
    | 'accounts'
    | 'facts'
    | 'layers'
    | 'log'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'transport'
  >,
): AfterAnswerWork | null {
  const { policy, clientRequest, history } = answered.prepared
  if (clientRequest.client.isTask || !isAnyLayerRequested(policy.layers, ports)) return null
  if (!mayStoreMemory(clientRequest, history, ports.settings)) return null
  return async (told) => {
    const outcome = await told
    // What is not finished is not gone on from.
    if (outcome.finish !== null) await tellAll(answered, outcome, ports)
  }
}

/** Never rejects. */
async function tellAll(
  { prepared, caller, turnId }: AnsweredRequest,
  outcome: Outcome,
  ports: Ports<
    | 'accounts'
    | 'facts'
    | 'layers'
    | 'log'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'transport'
  >,
): Promise<void> {
  const { policy, clientRequest, history, items } = prepared
  const asked = { clientRequest, history, items, rules: policy.layers, turnId }
  const context = buildLayerContext(asked, caller, ports)
  if (context.round === 0) return
  const ask = (question: LayerQuestion) => answerTo(question, prepared, ports)
  await Promise.all(
    budgetRequestedLayers(listMemoryLayers(ports), policy.layers).map(async ({ layer, tokens }) => {
      try {
        await layer.update?.({ ...context, tokens }, { outcome, askModel: ask })
      } catch (error) {
        ports.log('warn', 'layer-not-kept', { layer: layer.name, why: errorMessage(error) })
      }
    }),
  )
}

/** By whoever writes the summaries, too. */
async function answerTo(
  { instructions, input }: LayerQuestion,
  { policy, clientRequest }: PreparedRequest,
  ports: Ports<'accounts' | 'log' | 'memoryLayers' | 'settings' | 'transport'>,
): Promise<string> {
  const model = policy.summaries.model ?? clientRequest.params.model
  const content = [{ type: 'input_text', text: input }]
  const question = () => ({ instructions, input: [{ type: 'message', role: 'user', content }] })
  const asked = {
    targets: routeModel(ports, model, clientRequest.dialect),
    model,
    onCall: () => undefined,
    isDisconnected: () => false,
  }
  return (await requestSummary({ before: null, chapters: [''], question }, asked, ports)).text
}
