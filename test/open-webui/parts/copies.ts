/** Cloned chats, which keep their memory, and temporary chats, which are kept for a short time. */
import { checkRecalled, watchRequests } from '../support/check-requests.ts'
import { answersOn, ask, openNewChat } from '../support/screen.ts'
import type { Part } from './part-interface.ts'

export const copies: Part = {
  name: 'copies',
  description: 'cloned and temporary chats',
  usesEveryWire: false,
  async run(context) {
    const { screen, url, model, check, api } = context
    const { page } = screen
    const sent = watchRequests(context)
    await openNewChat(page, url, model)
    await ask(page, 'Look up Oslo and Rome.')
    const id = page.url().split('/').at(-1) ?? ''
    const clone = await api.post<{ readonly id: string }>(`/api/v1/chats/${id}/clone`, {})
    await page.goto(`${url}/c/${clone.id}`)
    await answersOn(page).first().waitFor()
    sent.take()
    await ask(page, 'And tomorrow?')
    checkRecalled(context, 'a cloned chat has its reasoning', sent.take())
    const before = context.countTurns()
    await openNewChat(page, url, model, { isTemporary: true })
    await ask(page, 'What is the weather?')
    await ask(page, 'And tomorrow?')
    checkRecalled(context, 'a temporary chat has its reasoning', sent.take())
    const after = context.countTurns()
    const added = { all: after.all - before.all, short: after.short - before.short }
    check('turns of a temporary chat are kept for two days', added.short === added.all, added)
    check('a temporary chat stores its turns', added.all > 0, added)
  },
}
