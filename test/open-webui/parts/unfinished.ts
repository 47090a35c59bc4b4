/** Answers that are continued, and answers that are stopped while they are written. */
import { checkRecalled, watchRequests } from '../support/check-requests.ts'
import { findMarkers } from '../support/markers.ts'
import { pause } from '../support/processes.ts'
import { answersOn, ask, openNewChat, startAsking, waitForAnswer } from '../support/screen.ts'
import type { Part, PartContext } from './part-interface.ts'

export const unfinished: Part = {
  name: 'unfinished',
  description: 'Continue Response and Stop',
  usesEveryWire: true,
  async run(context) {
    await continueAnswer(context)
    await stopAnswer(context)
  },
}

async function continueAnswer(context: PartContext): Promise<void> {
  const { screen, url, model, check, connection, wire } = context
  const { page } = screen
  const sent = watchRequests(context)
  await openNewChat(page, url, model)
  await ask(page, 'What is the weather?')
  sent.take()
  await page.locator('#continue-response-button').click()
  await pause(1500)
  await waitForAnswer(page)
  await pause(1000)
  await screen.takeScreenshot(`continued-${connection}-${wire}`)
  const continued = sent.take()
  check('a continued answer is one request', continued.length === 1, continued.length)
  checkShownOnce(context, 'a continued answer', await answersOn(page).last().innerText())
  await page.reload()
  await answersOn(page).last().waitFor()
  const text = await answersOn(page).last().innerText()
  checkShownOnce(context, 'a continued answer, loaded again,', text)
  await ask(page, 'And tomorrow?')
  checkRecalled(context, 'reasoning comes back behind a continued answer', sent.take())
}

/** Each answer of the model has a number, so a repeated text repeats a number. */
function checkShownOnce({ check }: PartContext, what: string, text: string): void {
  const numbers = [...text.matchAll(/[Aa]nswer (\d+)/g)].map(([, number]) => number)
  const isOnce = numbers.length === 2 && numbers[0] !== numbers[1]
  check(`${what} is shown once`, isOnce, text)
  check(`${what} shows no marker`, findMarkers(text).length === 0, text)
}

async function stopAnswer(context: PartContext): Promise<void> {
  const { screen, url, model, check, upstream, connection, wire } = context
  const { page } = screen
  const sent = watchRequests(context)
  await openNewChat(page, url, model)
  await startAsking(page, 'Count slowly.')
  await page
    .getByText(/line 1,/)
    .first()
    .waitFor()
  await page.locator('#chat-input').press('Escape')
  await waitForAnswer(page)
  await screen.takeScreenshot(`stopped-${connection}-${wire}`)
  const stopped = sent.take().at(-1)
  await pause(500)
  const isHungUp = stopped !== undefined && upstream.hungUp().has(stopped)
  check('Stop ends the request to the upstream', isHungUp)
  const text = await answersOn(page).last().innerText()
  check('a stopped answer keeps its text', /line 1,/.test(text), text)
  await ask(page, 'Thanks.')
  const next = sent.take()
  // Gemini signs a text only at its end.
  if (wire !== 'gemini') checkRecalled(context, 'reasoning of a stopped answer comes back', next)
  check('a stopped answer comes back', next.at(-1)?.answers.length === 1, next.at(-1)?.answers)
}
