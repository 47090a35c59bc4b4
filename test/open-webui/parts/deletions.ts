/** The buttons "–" of the edit box: a deleted call or thought stays deleted. */
import { watchRequests } from '../support/check-requests.ts'
import { answersOn, ask, deleteFromAnswer, openNewChat } from '../support/screen.ts'
import type { Part } from './part-interface.ts'

export const deletions: Part = {
  name: 'deletions',
  description: 'calls and thoughts that a person deletes in the edit box',
  usesEveryWire: false,
  async run(context) {
    const { screen, url, model, check, connection } = context
    const { page } = screen
    const sent = watchRequests(context)
    await openNewChat(page, url, model)
    await ask(page, 'Look up Oslo and Rome.')
    await ask(page, 'Thanks.')
    const before = sent.take().at(-1)
    check('a call that was not deleted comes back', before?.toolResults === 2, before?.toolResults)
    await answersOn(page).first().hover()
    await deleteFromAnswer(page, answersOn(page).first(), /^get_current_timestamp$/i)
    await screen.takeScreenshot(`deleted-call-${connection}`)
    await ask(page, 'And now?')
    const after = sent.take().at(-1)
    check('a deleted call stays deleted', after?.toolResults === 1, after?.toolResults)
    check('a deleted call makes no request fail', after?.refusal === null, after?.refusal)
    // Without `reasoning_details`, nothing tells a deleted thought from one that Open WebUI never sends.
    if (connection === 'responses') return
    await openNewChat(page, url, model)
    await ask(page, 'What is the weather?')
    await ask(page, 'And tomorrow?')
    const whole = sent.take().at(-1)
    check(
      'a thought that was not deleted comes back',
      whole?.reasoning.length === 1,
      whole?.reasoning,
    )
    await deleteFromAnswer(page, answersOn(page).first(), /^(thought|reasoning)$/i)
    await screen.takeScreenshot(`deleted-thought-${connection}`)
    await ask(page, 'And the day after?')
    const last = sent.take().at(-1)
    const [first, second] = last?.answers ?? []
    const isGone = first !== undefined && last?.reasoning.includes(first) === false
    check('a deleted thought stays deleted', isGone, last?.reasoning)
    const isKept = second !== undefined && last?.reasoning.includes(second) === true
    check('the other thought is kept', isKept, last?.reasoning)
  },
}
