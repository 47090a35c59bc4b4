/** Task requests (titles, tags …): they are answered, recall no turns and store none. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROFILES } from '../../support/open-webui/headers.ts'
import { promptLines } from '../../support/open-webui/prompt-lines.ts'
import { TASKS } from '../../support/open-webui/tasks.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'
import { markersIn } from '../../support/open-webui/check-answer.ts'

describe.each(PROFILES)('tasks of Open WebUI with the header profile "%s"', (profile) => {
  let setup: TestSetup
  beforeAll(async () => void (setup = await startTestSetup(profile)))
  afterAll(() => setup.close())

  test.each(['chat', 'responses'] as const)(
    'the gateway answers all Open WebUI tasks on a %s connection (C126, C128)',
    async (connection) => {
      const session = setup.session({ connection })
      await session.ask('RT')
      for (const name of TASKS) {
        const { text, round } = await session.chat.task(name)
        expect(round).toMatchObject({ status: 200, faults: [] })
        expect(JSON.parse(text)).toHaveProperty('title')
      }
      await session.ask('RT')
      expect(session.problems()).toEqual([])
    },
  )

  test("a title task at the same time as an answer neither gets nor stores the answer's reasoning", async () => {
    const session = setup.session()
    const [titled] = await Promise.all([session.chat.task('title_generation'), session.ask('RT')])
    expect(titled.round.faults).toEqual([])
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  })

  test('turn markers are removed from the chat history in a task prompt', async () => {
    const session = setup.session()
    await session.ask('RT')
    await session.ask('RT')
    setup.upstream.tasks.length = 0
    const { round } = await session.chat.task('follow_up_generation', true)
    // A chat from before: only then does an Open WebUI with references have markers.
    session.editAnswer((text) => `[01KQZ3V8M6T2X9R4B7C9]: #\n\n${text}`)
    const { round: withOldMarker } = await session.chat.task('follow_up_generation', true)
    expect(markersIn(JSON.stringify(round.body))).toEqual([])
    expect(markersIn(JSON.stringify(withOldMarker.body))).toHaveLength(1)
    const lines = setup.upstream.tasks.flatMap(promptLines)
    expect(lines.join()).toContain('ASSISTANT:')
    expect(markersIn(lines.join('\n'))).toEqual([])
    expect(lines.filter((line) => !line.startsWith('user: '))).toEqual([])
  })
})
