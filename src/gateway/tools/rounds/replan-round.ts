/**
 * A request in the middle of an answer that goes through its plan as a whole, as the request of a client
 * that answers its tools itself would: the conversation with what was said and answered since. What was
 * cut in front of reasoning that a model holds to its prefix, costs that reasoning, as anywhere else.
 *
 * The request stays what its client has sent, whatever is made of it.
 */
import { oncePerObject } from '../../../core/caching/cache-per-object.ts'
import { asOfClient } from '../../../core/items/gateway-tool-items.ts'
import type { Item, Origin } from '../../../core/item.ts'
import { holdsSealedReasoning } from '../../../core/reasoning/is-encrypted-or-signed.ts'
import type { History } from '../../history/load-history-by-id.ts'
import {
  REFUSED,
  withoutRefusedBefore,
} from '../../../providers/request/drop-rejected-parameters.ts'
import type { World } from '../../dependencies-interface.ts'
import type { Round, Rounds } from './prepare-next-round.ts'
import { fit } from '../../prompt/size/fit-to-window.ts'
import { originOf, standsOn } from '../../record/answer-provenance.ts'
import { prepareFor, type Prepared } from '../../prompt/prepare-request.ts'

/** Throws a GatewayError where nothing may be cut, or nothing is left to be. */
export function planAgain(rounds: Rounds, world: World): Prepared {
  const [{ prepared: first }] = rounds
  const { account, inbound, history, prompt } = first
  const { given = inbound.items } = inbound
  const said = rounds.flatMap((round) => answerIn(round).items)
  // With a compaction, which the answer begins with.
  const items = [...first.items.slice(history.items.length), ...said]
  const target = { account, model: prompt.params.model }
  const grown = historyWith(rounds, history)
  const asked = { inbound: { ...inbound, items, given }, history: grown }
  const planned = fit(prepareFor(target, asked, world), world)
  // What the upstream has refused is not said again.
  const refused = rounds.at(-1)?.prepared.notes.filter(({ why }) => why === REFUSED) ?? []
  const encoded = withoutRefusedBefore(planned.encoded, refused)
  return { ...planned, encoded, notes: [...planned.notes, ...refused], inbound, history }
}

interface AnswerInRound {
  readonly origin: Origin
  readonly items: readonly Item[]
}

/**
 * Each round is an answer of its own here, as it would be to a client: reasoning of it was made behind
 * what was sent for it, and something may stand between two of them.
 */
const answerIn = oncePerObject(({ prepared, said, outputs }: Round): AnswerInRound => {
  const isBound = holdsSealedReasoning(said)
  const prefixHash = isBound ? standsOn(prepared, said) : null
  const origin = { ...originOf(prepared), prefixHash }
  const items = [...said, ...outputs].map((item) => ({ ...asOfClient(item), origin }))
  return { origin, items }
})

function historyWith(rounds: Rounds, history: History): History {
  const { account } = rounds[0].prepared
  const tokens = new Map(
    rounds.map((round) => [answerIn(round).origin, round.usage?.totalTokens ?? null]),
  )
  const refusals = rounds
    .filter(({ prepared }) => prepared.reasoningRefused)
    .map((round) => ({ account: account.name, origin: answerIn(round).origin }))
  const loaded = rounds.flatMap((round) => [...(round.loaded ?? [])])
  return {
    ...history,
    refusals: [...history.refusals, ...refusals],
    counted: (origin) => tokens.get(origin) ?? history.counted?.(origin) ?? null,
    ...(loaded.length === 0 ? {} : { media: new Map([...(history.media ?? []), ...loaded]) }),
  }
}
