/** What layers keep of an answer, once it is given, which is nobody's business but their own. */
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import { messageOf } from '../../core/errors/gateway-error.ts'
import { mayKeepMemory } from '../history/memory-thread-and-storage-permission.ts'
import type { Question } from '../../memory/memory-layer-interface.ts'
import { wantedOf } from '../../memory/load-layer-blocks.ts'
import type { World } from '../dependencies-interface.ts'
import { route } from '../../upstream/accounts-and-model-routing.ts'
import type { Answered, Following } from './run-after-answer.ts'
import type { Prepared } from '../prompt/prepare-request.ts'
import { summarise } from '../summaries/request-summary.ts'
import { contextOf, layersOf, wantsLayers } from '../prompt/additions/load-memory-blocks.ts'

/** Layers are told of an answer behind its end, where anything of it may be kept. */
export const tellLayers: Following = (answered, world) => {
  const { policy, inbound, history } = answered.prepared
  if (inbound.client.isTask || !wantsLayers(policy.layers, world)) return null
  if (!mayKeepMemory(inbound, history, world.settings)) return null
  return async (told) => {
    const outcome = await told
    // What is not finished is not gone on from.
    if (outcome.finish !== null) await tellAll(answered, outcome, world)
  }
}

/** Never rejects. */
async function tellAll(
  { prepared, caller, turnId }: Answered,
  outcome: Outcome,
  world: World,
): Promise<void> {
  const { policy, inbound, history, items } = prepared
  const asked = { inbound, history, items, rules: policy.layers, turnId }
  const context = contextOf(asked, caller, world)
  if (context.round === 0) return
  const ask = (question: Question) => answerTo(question, prepared, world)
  await Promise.all(
    wantedOf(layersOf(world), policy.layers).map(async ({ layer, tokens }) => {
      try {
        await layer.remember?.({ ...context, tokens }, { outcome, ask })
      } catch (error) {
        world.log('warn', 'layer-not-kept', { layer: layer.name, why: messageOf(error) })
      }
    }),
  )
}

/** By whoever writes the summaries, too. */
async function answerTo(
  { instructions, input }: Question,
  { policy, inbound }: Prepared,
  world: World,
): Promise<string> {
  const model = policy.summaries.model ?? inbound.params.model
  const content = [{ type: 'input_text', text: input }]
  const question = () => ({ instructions, input: [{ type: 'message', role: 'user', content }] })
  const asked = {
    targets: route(world, model, inbound.dialect),
    model,
    onCall: () => undefined,
    isGone: () => false,
  }
  return (await summarise({ before: null, chapters: [''], question }, asked, world)).text
}
