/** What layers keep of an answer, once it is given, which is nobody's business but their own. */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import { budgetRequestedLayers } from '../../memory/load-layer-blocks.ts'
import type { LayerQuestion } from '../../memory/memory-layer-interface.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'
import { mayStoreMemory } from '../history/memory-thread-and-storage-permission.ts'
import {
  buildLayerContext,
  listMemoryLayers,
  isAnyLayerRequested,
} from '../prompt/additions/load-memory-blocks.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { requestSummary } from '../summaries/request-summary.ts'
import type { AnsweredRequest } from './answered-request.ts'
import type { AfterAnswerTask } from './run-after-answer.ts'

/** Layers are told of an answer behind its end, where anything of it may be kept. */
export const updateMemoryLayers: AfterAnswerTask = (answered, world) => {
  const { policy, clientRequest, history } = answered.prepared
  if (clientRequest.client.isTask || !isAnyLayerRequested(policy.layers, world)) return null
  if (!mayStoreMemory(clientRequest, history, world.settings)) return null
  return async (told) => {
    const outcome = await told
    // What is not finished is not gone on from.
    if (outcome.finish !== null) await tellAll(answered, outcome, world)
  }
}

/** Never rejects. */
async function tellAll(
  { prepared, caller, turnId }: AnsweredRequest,
  outcome: Outcome,
  world: GatewayDependencies,
): Promise<void> {
  const { policy, clientRequest, history, items } = prepared
  const asked = { clientRequest, history, items, rules: policy.layers, turnId }
  const context = buildLayerContext(asked, caller, world)
  if (context.round === 0) return
  const ask = (question: LayerQuestion) => answerTo(question, prepared, world)
  await Promise.all(
    budgetRequestedLayers(listMemoryLayers(world), policy.layers).map(async ({ layer, tokens }) => {
      try {
        await layer.update?.({ ...context, tokens }, { outcome, askModel: ask })
      } catch (error) {
        world.log('warn', 'layer-not-kept', { layer: layer.name, why: errorMessage(error) })
      }
    }),
  )
}

/** By whoever writes the summaries, too. */
async function answerTo(
  { instructions, input }: LayerQuestion,
  { policy, clientRequest }: PreparedRequest,
  world: GatewayDependencies,
): Promise<string> {
  const model = policy.summaries.model ?? clientRequest.params.model
  const content = [{ type: 'input_text', text: input }]
  const question = () => ({ instructions, input: [{ type: 'message', role: 'user', content }] })
  const asked = {
    targets: routeModel(world, model, clientRequest.dialect),
    model,
    onCall: () => undefined,
    isDisconnected: () => false,
  }
  return (await requestSummary({ before: null, chapters: [''], question }, asked, world)).text
}
