/**
 * Tests markers that were shifted, swapped, copied, lost, or pasted from another chat. In every
 * case, recorded items are restored only next to the text of their own turn.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOf, type Item } from '../../src/core/item.ts'
import { formatMarkerLine } from '../../src/core/markers/format-and-extract-markers.ts'
import { isUserMessage } from '../../src/core/items/rounds-and-pinned-items.ts'
import type { RecordedTurn } from '../../src/core/items/recorded-turn.ts'
import { restoreForgottenItems } from '../../src/recall/restore-forgotten-items.ts'
import { normalizeText, normalizeTurnText } from '../../src/recall/text/normalize-text.ts'
import { splitIntoSegments } from '../../src/recall/split-and-fingerprint-segments.ts'
import {
  assistantMessage,
  script,
  listItemsSentBack,
  buildStory,
  user,
  withUniqueTexts,
  type ClientHabits,
  type Script,
  type Story,
} from '../support/recalled-stories.ts'
import { numberOfRuns } from '../support/number-of-runs.ts'

const HABITS: ClientHabits = { keepsCalls: false, marks: 'none', joiner: '\n' }

/** The markers in each of five answers, by number. */
const places = fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 5, maxLength: 5 })

/** Moves every marker by the same number of answers. */
const shift = fc.integer({ min: 1, max: 4 })

const edits = fc.array(
  fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text,
    (text) => `${text}\n\nAnd so on.`,
    (text) => `${text} Or so.`,
    (text) => text.slice(0, -3),
    () => 'Something else.',
  ),
  { minLength: 5, maxLength: 5 },
)

function asks(one: Script, name: string): Script {
  const rounds = one.rounds.map((round, at) => ({ ...round, question: `${name} asks ${at}?` }))
  return { ...one, rounds }
}

/** Per answer, the turns that really made it. */
function listRounds({ steps }: Story): readonly (readonly RecordedTurn[])[] {
  const rounds: RecordedTurn[][] = []
  for (const { turn, isFirstOfRound } of steps) {
    if (isFirstOfRound) rounds.push([turn])
    else rounds.at(-1)?.push(turn)
  }
  return rounds
}

interface Sent {
  readonly story: Story
  readonly ids: (round: number) => readonly string[]
  readonly edit?: readonly ((text: string) => string)[]
  /** True if the first question was edited, so that no fingerprint matches. */
  readonly isUnnamed: boolean
}

function sent({ story, ids, edit = [], isUnnamed }: Sent): readonly Item[] {
  let round = -1
  const items = listItemsSentBack(story.steps, HABITS).map((item) => {
    if (item.type !== 'message') return item
    if (item.role !== 'assistant') {
      round += 1
      return isUnnamed && round === 0 ? user('Something else was asked.') : item
    }
    const text = (edit[round] ?? ((same) => same))(textOf(item.content))
    return assistantMessage(
      [...ids(round).map((id) => `${formatMarkerLine(id)}\n`), text].join('\n'),
    )
  })
  return [...items, user('And now?')]
}

/** Lists each recorded item in the restored list, with the number of its answer. */
function listRestoredItems(items: readonly Item[], turns: readonly RecordedTurn[]) {
  const owners = new Map(turns.flatMap((turn) => turn.output.map((item) => [item, turn] as const)))
  const plan = splitIntoSegments(items)
  const recalled = restoreForgottenItems(items, plan, turns, { replaysTools: true })
  let round = -1
  return recalled.items.flatMap((item) => {
    if (isUserMessage(item)) round += 1
    const turn = owners.get(item)
    return turn === undefined ? [] : [{ turn, round }]
  })
}

function expectOwnItems(
  items: readonly Item[],
  turns: readonly RecordedTurn[],
  story: Story,
): void {
  const rounds = listRounds(story)
  const wrong = listRestoredItems(items, turns).filter(
    ({ turn, round }) => rounds[round]?.includes(turn) !== true,
  )
  expect(wrong).toEqual([])
}

function allOf(stories: readonly Story[]): readonly RecordedTurn[] {
  return stories.flatMap((one) => [...one.steps.map(({ turn }) => turn), ...one.siblings])
}

const scripts = fc.array(script, { minLength: 1, maxLength: 2 })

test('an answer with unique, unedited text gets the recorded items of its own turn, whatever turns its markers name (C131, C132)', () => {
  fc.assert(
    fc.property(scripts, places, fc.boolean(), (scripts, places, isUnnamed) => {
      const own = scripts.map((one, at) => withUniqueTexts(one, `Story ${at}`))
      const stories = own.map((one, at) => buildStory(one, String(at), HABITS))
      const [story] = stories
      if (story === undefined) return
      const turns = allOf(stories)
      const ids = (round: number) =>
        (places[round] ?? []).map((at) => turns[at % turns.length]?.id ?? '')
      expectOwnItems(sent({ story, ids, isUnnamed }), turns, story)
    }),
    numberOfRuns(200),
  )
})

test('an edited answer gets the recorded items of its own turn or none, whatever turns its markers name', () => {
  fc.assert(
    fc.property(scripts, places, edits, fc.boolean(), (scripts, places, edit, isUnnamed) => {
      const own = scripts.map((one, at) => asks(withUniqueTexts(one, `Story ${at}`), `Story ${at}`))
      const stories = own.map((one, at) => buildStory(one, String(at), HABITS))
      const [story] = stories
      if (story === undefined) return
      const turns = stories.flatMap(({ steps }) => steps.map(({ turn }) => turn))
      const ids = (round: number) =>
        (places[round] ?? []).map((at) => turns[at % turns.length]?.id ?? '')
      const named = new Set(edit.flatMap((_, round) => ids(round)))
      const items = sent({ story, ids, edit, isUnnamed })
      expectOwnItems(items, turns, story)
      // The store may contain only the turns that markers name.
      expectOwnItems(
        items,
        turns.filter(({ id }) => named.has(id)),
        story,
      )
    }),
    numberOfRuns(200),
  )
})

test('an edited answer gets recorded items of its own turns only, even if every marker was moved to another answer and all questions are equal', () => {
  fc.assert(
    fc.property(script, shift, edits, fc.boolean(), (one, by, edit, isUnnamed) => {
      const rounds = one.rounds.map((round) => ({ ...round, question: 'Go on.' }))
      const story = buildStory(withUniqueTexts({ ...one, rounds }, 'Story'), '0', HABITS)
      const answers = listRounds(story)
      fc.pre(by % answers.length !== 0)
      const ids = (round: number) =>
        (answers.at((round - by) % answers.length) ?? []).map(({ id }) => id)
      expectOwnItems(sent({ story, ids, edit, isUnnamed }), allOf([story]), story)
    }),
    numberOfRuns(200),
  )
})

test('if many answers have equal texts, an answer gets recorded items only of turns whose text it contains', () => {
  fc.assert(
    fc.property(scripts, places, fc.boolean(), (scripts, places, isUnnamed) => {
      const stories = scripts.map((one, at) => buildStory(one, String(at), HABITS))
      const [story] = stories
      if (story === undefined) return
      const turns = allOf(stories)
      const ids = (round: number) =>
        (places[round] ?? []).map((at) => turns[at % turns.length]?.id ?? '')
      expectSaidHere(sent({ story, ids, isUnnamed }), turns, story)
    }),
    numberOfRuns(200),
  )
})

function expectSaidHere(
  items: readonly Item[],
  turns: readonly RecordedTurn[],
  story: Story,
): void {
  const roundTexts = listRounds(story).map(normalizeTurnText)
  const wrong = listRestoredItems(items, turns).filter(
    ({ turn, round }) => roundTexts[round]?.includes(normalizeTurnText([turn])) !== true,
  )
  expect(wrong).toEqual([])
  // All text of the client stays.
  const recalled = restoreForgottenItems(items, splitIntoSegments(items), turns, {
    replaysTools: true,
  })
  expect(spoken(recalled.items)).toBe(spoken(items))
}

function spoken(items: readonly Item[]): string {
  return items
    .map((item) => (item.type === 'message' ? normalizeText(textOf(item.content)) : ''))
    .join('')
}

describe('markers of turns whose text the client does not have', () => {
  const say = (...texts: string[]) => ({
    said: texts.map((text) => ({ thinks: true, text })),
    calls: 0,
    searches: false,
  })
  const call = (...texts: string[]) => ({ ...say(...texts), calls: 1 })
  const round = (question: string, ...answers: ReturnType<typeof say>[]) => ({
    question,
    answers,
    siblings: [],
  })
  const listRestoredItems = (name: string, ...rounds: ReturnType<typeof round>[]) =>
    buildStory({ rounds, countsCalls: false }, name, HABITS)
  const WARM = 'How warm is it?'

  /** `marks` are the numbers of turns among those of all stories. */
  function expectNoRestoredItems(
    stories: readonly Story[],
    marks: readonly number[][],
    isUnnamed = false,
  ) {
    const [story] = stories
    const turns = allOf(stories)
    const ids = (at: number) => (marks[at] ?? []).flatMap((number) => turns[number]?.id ?? [])
    if (story === undefined) throw new Error('There is no story.')
    const items = sent({ story, ids, isUnnamed })
    expectSaidHere(items, turns, story)
    return restoreForgottenItems(items, splitIntoSegments(items), turns, { replaysTools: true })
  }

  test('if an answer has two markers of another chat, a turn whose text the answer lacks is not restored, even if the text of the other turn is equal', () => {
    const here = listRestoredItems('0', round(WARM, call(), say('OK.')))
    const other = listRestoredItems('1', round(WARM, call('Let me look.'), say('OK.')))
    for (const isUnnamed of [true, false]) {
      const { notes } = expectNoRestoredItems([here, other], [[2, 3]], isUnnamed)
      expect(notes.map(({ why }) => why)).toContain('marker-doubted')
    }
  })

  test('if an answer has two markers of another chat, the turn between the two turns that they name is not restored', () => {
    const here = listRestoredItems('0', round(WARM, call(), say('OK.')))
    const other = listRestoredItems('1', round(WARM, call('OK.'), call('Let me look.'), say('OK.')))
    expectNoRestoredItems([here, other], [[2, 4]], true)
  })

  test('if an answer has two markers of another chat, their turns are not restored if the text may belong to turns of this chat', () => {
    const here = listRestoredItems('0', round(WARM, call('OK.'), say('OK.')))
    const other = listRestoredItems('1', round(WARM, call('It is 4 degrees.'), say('OK.')))
    expectNoRestoredItems([here, other], [[2, 3]])
    const sibling = listRestoredItems(
      '0',
      round(WARM, call(), say('OK.')),
      round(WARM, call(), say('OK.OK.')),
    )
    expectNoRestoredItems([sibling, other], [[], [4, 5]])
  })

  test("if two turns of different rounds together have an answer's text, the rounds between them are not restored in the answer", () => {
    const look = 'Let me look.'
    const story = listRestoredItems(
      '0',
      round(WARM, say('OK.')),
      round(WARM, call(look, look), say('OK.')),
      round(WARM, call(), call(), { ...say('OK.'), searches: true }),
      round(WARM, call(), call(look), call(look), say(look)),
    )
    expectNoRestoredItems([story], [[], [], [], [1, 7]])
  })

  test('a marker does not restore its turn if the markers of the other turns of the same answer are in another round', () => {
    const story = listRestoredItems(
      '0',
      round(WARM, call(), call('It is 4 degrees.'), say('OK.')),
      round('Go on.', say('OK.')),
      round(WARM, call(), call(), say('OK.')),
      round(WARM, say('OK.')),
    )
    expectNoRestoredItems([story], [[], [], [0, 1], [2]], true)
  })

  test("a turn is not restored if one copy of its marker is in an answer with the turn's text and another copy after the turn's question", () => {
    const story = listRestoredItems(
      '0',
      round(WARM, say('OK.')),
      round('Go on.', say('Let me look.')),
    )
    const sibling = listRestoredItems('0', round(WARM, say('OK.')), round('Go on.', say('OK.')))
    const [, other] = sibling.steps.map(({ turn }) => ({ ...turn, id: '9'.repeat(20) }))
    if (other === undefined) throw new Error('There is no sibling.')
    expectNoRestoredItems([{ ...story, siblings: [other] }], [[2], [2]], true)
  })

  test('a turn whose ancestors are not loaded is not restored beside the marker of an earlier turn', () => {
    const story = listRestoredItems(
      '0',
      round('How warm is it?', call('Let me look.'), say('Warm.')),
      round('How cold is it?', call(), call(), say('Cold.')),
    )
    const turns = story.steps.map(({ turn }) => turn).filter((_, at) => at !== 3)
    const ids = (at: number) => (at === 0 ? [0, 4] : []).map((nth) => String(nth).padStart(20, '0'))
    for (const edit of [[], [(text: string) => `${text} Or so.`]])
      expectOwnItems(sent({ story, ids, edit, isUnnamed: true }), turns, story)
  })

  test('if answers have equal texts and each has the marker of the answer before it, only turns with their texts are restored', () => {
    const story = listRestoredItems(
      '0',
      round(WARM, call(), say('OK.')),
      round(WARM, call(), call(), say('OK.', 'OK.')),
      round(WARM, call(), say('OK.')),
    )
    expectNoRestoredItems([story], [[], [1], [4]])
    expectNoRestoredItems([story], [[], [1], [4]], true)
  })
})
