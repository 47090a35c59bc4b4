/** What a person does in the browser, in words of the screens of Open WebUI. */
import type { Locator, Page } from './playwright.ts'
import { pause, waitFor } from './processes.ts'

export interface Person {
  readonly name: string
  readonly email: string
  readonly password: string
}

export type ConnectionType = 'chat' | 'responses'

/** Signs up at a new Open WebUI, as its administrator. */
export async function signUp(page: Page, url: string, person: Person): Promise<void> {
  await page.goto(url)
  await page.getByRole('button', { name: 'Get started' }).click()
  await page.getByPlaceholder('Enter Your Full Name').fill(person.name)
  await fillAccount(page, person)
  await page.getByRole('button', { name: 'Create Admin Account' }).click()
  await closeNews(page)
}

export async function signIn(page: Page, url: string, person: Person): Promise<void> {
  await page.goto(url)
  await fillAccount(page, person)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('#chat-input').waitFor()
}

async function fillAccount(page: Page, { email, password }: Person): Promise<void> {
  await page.getByPlaceholder('Enter Your Email').fill(email)
  await page.getByPlaceholder('Enter Your Password').fill(password)
}

/** Closes the release notes, which only administrators see. */
async function closeNews(page: Page): Promise<void> {
  const close = page.getByRole('button', { name: "Okay, Let's Go!" })
  await close.click({ timeout: 60_000 })
  await close.waitFor({ state: 'hidden' })
}

export interface Connection {
  readonly url: string
  readonly key: string
  /** The value of the field Headers. */
  readonly headers: string
  readonly type: ConnectionType
  /** Put in front of the names of the models, to tell two connections apart. */
  readonly prefix: string
}

/** Adds a connection as an administrator does, in the order of the README. */
export async function addConnection(
  page: Page,
  connection: Connection,
  takeScreenshot: (name: string) => Promise<void>,
): Promise<void> {
  await page.getByRole('button', { name: 'User menu' }).first().click()
  await page.getByText('Admin Panel', { exact: true }).click()
  await page.getByText('Settings', { exact: true }).first().click()
  await page.getByText('Connections', { exact: true }).last().click()
  const label = "//div[normalize-space()='Manage OpenAI API Connections']"
  await page.locator(`${label}/following::button[1]`).first().click()
  await page.locator('#url-input').fill(connection.url)
  await page.getByPlaceholder('API Key').fill(connection.key)
  if (connection.type === 'responses') await page.locator('#api-type-toggle').click()
  // In Open WebUI 0.10, these fields are on the screen at once.
  const advanced = page.getByRole('button', { name: 'Advanced' })
  if (await advanced.isVisible()) await advanced.click()
  await page.getByPlaceholder('Enter additional headers in JSON format').fill(connection.headers)
  await page.locator('#prefix-id-input').fill(connection.prefix)
  await takeScreenshot(`connection-${connection.type}`)
  await page.getByRole('button', { name: 'Verify Connection' }).click()
  await page.getByText('Server connection verified').first().waitFor()
  await page.locator('form').last().getByRole('button', { name: 'Save' }).click()
  await page.getByText('OpenAI API settings updated').first().waitFor()
}

/** A page that is left while it is loading signs its user out, so this waits for its end. */
export async function openHome(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.locator('#chat-input').waitFor({ timeout: 60_000 })
}

export async function openNewChat(
  page: Page,
  url: string,
  model: string,
  { isTemporary = false } = {},
): Promise<void> {
  await openHome(page, `${url}/?model=${encodeURIComponent(model)}`)
  if (isTemporary) await page.locator('#temporary-chat-button').click()
}

/** Sends a question, and waits until its answer is complete. */
export async function ask(page: Page, question: string): Promise<void> {
  const before = await answersOn(page).count()
  await startAsking(page, question)
  await waitFor('a further answer on the page', 30_000, async () =>
    (await answersOn(page).count()) > before ? true : null,
  )
  await waitForAnswer(page)
}

export async function startAsking(page: Page, question: string): Promise<void> {
  const input = page.locator('#chat-input')
  await input.click()
  await input.fill(question)
  await page.locator('#send-message-button').click()
}

/** Waits until no answer is being written. */
export async function waitForAnswer(page: Page): Promise<void> {
  await waitFor('the answer to be complete', 60_000, async () => {
    const isWriting = await page.getByRole('button', { name: 'Stop', exact: true }).isVisible()
    const buttons = await answersOn(page).last().locator('.copy-response-button').count()
    return isWriting || buttons === 0 ? null : true
  })
  // The page saves the chat after the answer.
  await pause(500)
}

/** The answers of the open chat, from the first to the last. */
export function answersOn(page: Page): Locator {
  return page.locator('[id^="message-"]:not(.user-message):not(#message-input-container)')
}

export function questionsOn(page: Page): Locator {
  return page.locator('.user-message[id^="message-"]')
}

/** Lets the model answer the latest question again, and waits for that answer. */
export async function regenerate(page: Page): Promise<void> {
  // The visible button opens a menu, whose first item clicks this hidden one.
  await page.evaluate(
    "[...document.querySelectorAll('button.regenerate-response-button')].at(-1).click()",
  )
  await pause(1000)
  await waitForAnswer(page)
}

/** Replaces the latest question, which starts a branch, and waits for its answer. */
export async function editQuestion(page: Page, text: string): Promise<void> {
  const question = questionsOn(page).last()
  await question.hover()
  await question.locator('.edit-user-message-button').click()
  await question.locator('textarea').fill(text)
  await page.locator('#confirm-edit-message-button').click()
  await pause(1000)
  await waitForAnswer(page)
}

/** Replaces the words of the latest answer. */
export async function editAnswer(page: Page, text: string): Promise<void> {
  const row = (await openEditBox(page, answersOn(page).last())).find(isNamed(/^(text|message)$/i))
  if (row === undefined) throw new Error('The edit box shows no words of the answer.')
  await row.row.locator('textarea').fill(text)
  await saveEditBox(page)
}

/** Clicks the button "–" of the first row of an answer's edit box whose label matches. */
export async function deleteFromAnswer(page: Page, answer: Locator, label: RegExp): Promise<void> {
  const rows = await openEditBox(page, answer)
  const found = rows.find(isNamed(label))
  if (found === undefined) {
    throw new Error(`The edit box has only the rows ${rows.map((row) => row.label).join(', ')}.`)
  }
  await found.row.hover()
  await found.row.getByRole('button').last().click()
  await saveEditBox(page)
}

interface EditRow {
  readonly label: string
  readonly row: Locator
}

/** The edit box shows each thought, text and call of an answer in a row. */
async function openEditBox(page: Page, answer: Locator): Promise<readonly EditRow[]> {
  await answer.hover()
  await answer.getByRole('button', { name: 'Edit', exact: true }).first().click()
  await page.locator('#confirm-edit-message-button').waitFor()
  const rows = await answer.locator('div.group:has(> div > div.uppercase)').all()
  return Promise.all(
    rows.map(async (row) => ({ row, label: await row.locator('div.uppercase').innerText() })),
  )
}

function isNamed(label: RegExp): (row: EditRow) => boolean {
  return (row) => label.test(row.label.trim())
}

async function saveEditBox(page: Page): Promise<void> {
  await page.locator('#confirm-edit-message-button').click()
  await page.locator('#confirm-edit-message-button').waitFor({ state: 'hidden' })
  // The page saves the chat after it has closed the box.
  await pause(1000)
}
