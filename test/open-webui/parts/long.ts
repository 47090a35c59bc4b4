/** A chat of sixty turns, every third with a tool loop of two rounds, over Open WebUI's own API. */
import { checkRecalled, watchRequests } from '../support/check-requests.ts'
import { startApiChat } from '../support/open-webui-api.ts'
import type { Part } from './part-interface.ts'

const TURNS = 60

export const long: Part = {
  name: 'long',
  description: `a chat of ${TURNS} turns`,
  usesEveryWire: false,
  async run(context) {
    const { api, model, check } = context
    const sent = watchRequests(context)
    await api.get('/api/models?refresh=true')
    const chat = startApiChat(api, model)
    for (let turn = 1; turn <= TURNS; turn += 1) {
      await chat.ask(turn % 3 === 0 ? `Look up Oslo and Rome, time ${turn}.` : `Question ${turn}?`)
    }
    const requests = sent.take()
    checkRecalled(context, `${TURNS} turns have all of their reasoning in order`, requests)
    const calls = 2 * Math.floor(TURNS / 3)
    check(
      'sixty turns are as many requests as expected',
      requests.length === TURNS + calls,
      requests.length,
    )
    const last = requests.at(-1)
    check(
      'the last request contains every tool result',
      last?.toolResults === calls,
      last?.toolResults,
    )
  },
}
