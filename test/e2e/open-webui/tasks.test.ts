/** Housekeeping: it is answered like anything else, and leaves and gets nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROFILES } from '../../support/open-webui/headers.ts'
import { linesOf } from '../../support/open-webui/lines.ts'
import { TASKS } from '../../support/open-webui/tasks.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'
import { markersIn } from '../../support/open-webui/watch.ts'

describe.each(PROFILES)('%s', (profile) => {
  let town: Town
  beforeAll(async () => void (town = await startTown(profile)))
  afterAll(() => town.close())

  test.each(['chat', 'responses'] as const)(
    'tasks on a %s connection (C126, C128)',
    async (connection) => {
      const story = town.story({ connection })
      await story.ask('RT')
      for (const name of TASKS) {
        const { text, round } = await story.chat.task(name)
        expect(round).toMatchObject({ status: 200, faults: [] })
        expect(JSON.parse(text)).toHaveProperty('title')
      }
      await story.ask('RT')
      expect(story.trouble()).toEqual([])
    },
  )

  test('a title asked for at the same time gets no reasoning and gives none', async () => {
    const story = town.story()
    const [titled] = await Promise.all([story.chat.task('title_generation'), story.ask('RT')])
    expect(titled.round.faults).toEqual([])
    await story.ask('RT')
    expect(story.trouble()).toEqual([])
  })

  test('markers in the history that a task is given reach no model', async () => {
    const story = town.story()
    await story.ask('RT')
    await story.ask('RT')
    town.upstream.tasks.length = 0
    const { round } = await story.chat.task('follow_up_generation', true)
    expect(markersIn(JSON.stringify(round.body))).toHaveLength(profile === 'bare' ? 0 : 2)
    const lines = town.upstream.tasks.flatMap(linesOf)
    expect(lines.join()).toContain('ASSISTANT:')
    expect(markersIn(lines.join('\n'))).toEqual([])
    expect(lines.filter((line) => !line.startsWith('user: '))).toEqual([])
  })
})
