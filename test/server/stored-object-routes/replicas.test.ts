/** Replicas on one database see each other's locks and turns at once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { DATABASES, DEMO } from './databases.ts'

describe.each(DATABASES)('replicas on one database, over %s', (_, open) => {
  let database: TestDatabase
  let one: Awaited<ReturnType<typeof startGateway>>
  let other: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    database = await open()
    one = await startGateway({ DATABASE_URL: database.url, ...DEMO })
    other = await startGateway({ DATABASE_URL: database.url, ...DEMO })
  })
  afterAll(async () => {
    await Promise.all([one.close(), other.close()])
    await database.drop()
  })

  test('a conversation is locked on all replicas while one replica answers in it, and released on all afterward', async () => {
    const { id } = await one.openai.conversations.create()
    const ask = (input: string) =>
      other.openai.responses.create({ model: 'demo', input, conversation: id })
    const running = await one.openai.responses.create({
      model: 'demo',
      input: '/say a\n/hang',
      conversation: id,
      stream: true,
    })
    for await (const event of running) {
      if (!event.type.endsWith('delta')) continue
      await expect(ask('two')).rejects.toMatchObject({ code: 'conversation_locked' })
      break
    }
    await expect.poll(() => ask('three').then(() => 'answered', String)).toBe('answered')
    expect(
      (await one.openai.responses.create({ model: 'demo', input: 'x', conversation: id }))
        .output_text,
    ).toContain('I remember 1 earlier')
  })

  test('a follow-up request to another replica sees the complete answer right after its last event', async () => {
    let previous: string | null = null
    for (let at = 0; at < 25; at++) {
      const [here, there] = at % 2 === 0 ? [one, other] : [other, one]
      const stream = here.openai.responses.stream({
        model: 'demo',
        input: `${at}`,
        previous_response_id: previous,
      })
      let id = ''
      for await (const event of stream) {
        if (event.type !== 'response.completed') continue
        id = event.response.id
        break
      }
      const [read, items] = await Promise.all([
        there.openai.responses.retrieve(id),
        there.openai.responses.inputItems.list(id, { limit: 100 }),
      ])
      expect(read.status).toBe('completed')
      const asked = items.data.filter((item) => 'role' in item && item.role === 'user')
      expect(asked).toHaveLength(at + 1)
      previous = id
    }
  })
})
