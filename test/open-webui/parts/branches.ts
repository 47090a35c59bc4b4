/** Regenerated answers, edited questions and edited answers: each branch has its own memory. */
import { checkRecalled, watchRequests } from '../support/check-requests.ts'
import {
  answersOn,
  ask,
  editAnswer,
  editQuestion,
  openNewChat,
  regenerate,
} from '../support/screen.ts'
import type { Part } from './part-interface.ts'

export const branches: Part = {
  name: 'branches',
  description: 'regenerated answers, branches, edited questions and answers',
  usesEveryWire: false,
  async run(context) {
    const { screen, url, model, check, connection } = context
    const { page } = screen
    const sent = watchRequests(context)
    await openNewChat(page, url, model)
    await ask(page, 'What is the weather?')
    const [first] = numbersIn(await answersOn(page).last().innerText())
    await regenerate(page)
    const [second] = numbersIn(await answersOn(page).last().innerText())
    check('a regenerated answer is another one', first !== second, [first, second])
    sent.take()
    await ask(page, 'And tomorrow?')
    const behindSecond = sent.take()
    checkRecalled(context, 'the regenerated branch has its own reasoning', behindSecond)
    const seen = behindSecond.at(-1)?.answers
    check('the regenerated branch has only its own answers', isOnly(seen, second), seen)
    await answersOn(page).first().hover()
    await answersOn(page).first().getByRole('button', { name: 'Previous message' }).click()
    await ask(page, 'And the day after?')
    const behindFirst = sent.take()
    checkRecalled(context, 'the first branch has its own reasoning', behindFirst)
    const back = behindFirst.at(-1)?.answers
    check('the first branch has only its own answers', isOnly(back, first), back)
    await editQuestion(page, 'And in a week?')
    const edited = sent.take()
    checkRecalled(context, 'an edited question keeps the reasoning before it', edited)
    await ask(page, 'And then?')
    checkRecalled(context, 'reasoning comes back behind an edited question', sent.take())
    await editAnswer(page, 'It will be sunny, says the person.')
    await ask(page, 'Are you sure?')
    const last = sent.take().at(-1)
    const text = JSON.stringify(last?.body)
    check('an edited answer reaches the model', /sunny, says the person/.test(text), text)
    const isKept = first !== undefined && last?.reasoning.includes(first) === true
    check('the rest of the chat keeps its reasoning', isKept, last?.reasoning)
    await screen.takeScreenshot(`branches-${connection}`)
  },
}

/** Returns the numbers of the model's answers in a text of the page. */
function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(/[Aa]nswer (\d+)/g)].map(([, number]) => Number(number))
}

function isOnly(numbers: readonly number[] = [], number = 0): boolean {
  return numbers.length === 1 && numbers[0] === number
}
