/**
 * Plans the request of a tool round again, from the complete conversation and the rounds so far, as if the
 * client had run the gateway tools. This may drop items. Reasoning after them is then dropped too if it is
 * valid only with an unchanged prefix.
 */
import { cachePerObject } from '../../../core/caching/cache-per-object.ts'
import type { Origin } from '../../../core/item.ts'
import { unmarkGatewayToolItem } from '../../../core/items/gateway-tool-items.ts'
import { hasEncryptedOrSignedReasoning } from '../../../core/reasoning/is-encrypted-or-signed.ts'
import {
  REJECTED_BY_UPSTREAM,
  dropPreviouslyRejectedParameters,
} from '../../../providers/request/drop-rejected-parameters.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { prepareRequest } from '../../prompt/prepare-request.ts'
import type { PlanPorts } from '../../prompt/list-prompt-transforms.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import { fitToWindow } from '../../prompt/size/fit-to-window.ts'
import { resolveAnswerOrigin, hashAnswerPrefix } from '../../record/collect-answer-metadata.ts'
import type { ToolRound, ToolRounds } from './tool-round.ts'

/**
 * Returns the planned request. Its `clientRequest` and `history` are the original ones. Throws a
 * GatewayError if the request is too large and the policy allows no cut, or if it is too large even after a
 * cut.
 */
export function replanRound(rounds: ToolRounds, ports: PlanPorts): PreparedRequest {
  const [{ prepared: first }] = rounds
  const { account, clientRequest, history, prompt } = first
  const { originalItems = clientRequest.items } = clientRequest
  const roundItems = rounds.flatMap((round) => buildRoundAnswer(round).items)
  // The items of the client come from `first.items`, because it also has the compaction with which an
  // answer may start.
  const items = [...first.items.slice(history.items.length), ...roundItems]
  const target = { account, model: prompt.params.model }
  const request = {
    clientRequest: { ...clientRequest, items, originalItems },
    history: extendHistory(rounds, history),
  }
  const planned = fitToWindow(prepareRequest(target, request, ports), ports)
  // Omits the parameters that the upstream rejected in earlier rounds.
  const rejections =
    rounds.at(-1)?.prepared.notes.filter(({ why }) => why === REJECTED_BY_UPSTREAM) ?? []
  const encoded = dropPreviouslyRejectedParameters(planned.encoded, rejections)
  const notes = [...planned.notes, ...rejections]
  return { ...planned, encoded, notes, clientRequest, history }
}

/**
 * Builds the items of a round like those of a separate answer, with an `origin` of their own. It contains
 * the hash of the prompt prefix of that round, because encrypted reasoning is valid only after this prefix.
 */
const buildRoundAnswer = cachePerObject(({ prepared, modelItems, outputs }: ToolRound) => {
  const isBound = hasEncryptedOrSignedReasoning(modelItems)
  const prefixHash = isBound ? hashAnswerPrefix(prepared, modelItems) : null
  const origin: Origin = { ...resolveAnswerOrigin(prepared), prefixHash }
  const items = [...modelItems, ...outputs]
  return { origin, items: items.map((item) => ({ ...unmarkGatewayToolItem(item), origin })) }
})

function extendHistory(rounds: ToolRounds, history: LoadedHistory): LoadedHistory {
  const account = rounds[0].prepared.account.name
  const tokens = new Map(
    rounds.map((round) => [buildRoundAnswer(round).origin, round.usage?.totalTokens ?? null]),
  )
  const rejections = rounds
    .filter(({ prepared }) => prepared.wasReasoningRejected)
    .map((round) => ({ account, origin: buildRoundAnswer(round).origin }))
  const loadedMedia = rounds.flatMap((round) => [...(round.loadedMedia ?? [])])
  return {
    ...history,
    reasoningRejections: [...history.reasoningRejections, ...rejections],
    countReportedTokens: (origin) =>
      tokens.get(origin) ?? history.countReportedTokens?.(origin) ?? null,
    ...(loadedMedia.length === 0
      ? {}
      : { media: new Map([...(history.media ?? []), ...loadedMedia]) }),
  }
}
