/** A plain answer with thinking, a tool loop, and the questions after them. */
import { checkRecalled, watchRequests } from '../support/check-requests.ts'
import { answersOn, ask, openNewChat } from '../support/screen.ts'
import type { Part } from './part-interface.ts'

export const answers: Part = {
  name: 'answers',
  description: 'answers with thinking, tool loops, and the questions after them',
  usesEveryWire: true,
  async run(context) {
    const { screen, url, model, check, wire } = context
    const { page } = screen
    const sent = watchRequests(context)
    await openNewChat(page, url, model)
    await ask(page, 'What is the weather?')
    const first = await answersOn(page).last().innerText()
    check('an answer is shown', /Answer \d+: it is foggy/.test(first), first)
    check('its thinking is shown', /Thought/.test(first), first)
    checkRecalled(context, 'the first request is clean', sent.take())
    await ask(page, 'Look up Oslo and Rome.')
    const second = await answersOn(page).last().innerText()
    check('a tool loop of two rounds ends with an answer', /2 times/.test(second), second)
    const rounds = sent.take()
    check('a tool loop of two rounds is three requests', rounds.length === 3, rounds.length)
    checkRecalled(context, 'reasoning comes back within a tool loop', rounds)
    await ask(page, 'Thanks. And tomorrow?')
    await ask(page, 'And the day after?')
    checkRecalled(context, 'reasoning comes back two questions later', sent.take())
    await screen.takeScreenshot(`answers-${wire}`)
  },
}
