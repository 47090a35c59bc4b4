/** A second user, whom the administrator adds, finds the models, and gets nothing of the first one's. */
import { openScreen } from '../support/browser.ts'
import { checkRecalled, watchRequests } from '../support/check-requests.ts'
import { answersOn, ask, openNewChat, signIn } from '../support/screen.ts'
import type { Part } from './part-interface.ts'

export const users: Part = {
  name: 'users',
  description: 'two users with the same questions',
  usesEveryWire: false,
  async run(context) {
    const { screen, url, model, check, browser, connection, folder, api } = context
    const sent = watchRequests(context)
    const question = 'Look up Oslo and Rome.'
    await openNewChat(screen.page, url, model)
    await ask(screen.page, question)
    const second = await openScreen(browser, `${folder}/second-user`)
    const email = `grace-${connection}@example.com`
    const person = { name: 'Grace', email, password: 'secret words' }
    await api.post('/api/v1/auths/add', { ...person, role: 'user' })
    try {
      await signIn(second.page, url, person)
      await openNewChat(second.page, url, model)
      await ask(second.page, question)
      const text = await answersOn(second.page).last().innerText()
      check('a second user can ask the models', /Answer \d+/.test(text), text)
      sent.take()
      await ask(second.page, 'Thanks.')
      checkRecalled(context, 'the second user gets only their own reasoning', sent.take())
      await ask(screen.page, 'Thanks.')
      checkRecalled(context, 'the first user gets only their own reasoning', sent.take())
      await second.takeScreenshot(`second-user-${connection}`)
    } finally {
      await second.close()
    }
  },
}
