import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textOf, type Item } from '../../src/core/item.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../src/core/items/tool-call-pairs.ts'
import type { RecordedTurn } from '../../src/core/items/recorded-turn.ts'
import { restoreForgottenItems } from '../../src/recall/restore-forgotten-items.ts'
import { splitIntoSegments } from '../../src/recall/split-and-fingerprint-segments.ts'
import { normalizeText } from '../../src/recall/text/normalize-text.ts'
import { conversation } from '../support/conversations.ts'
import { deepFreeze } from '../support/laws.ts'
import {
  recallableItems,
  script,
  listItemsSentBack,
  buildStory,
  recordedItems,
  user,
  withUniqueTexts,
  type ClientHabits,
  type MarkerPlacement,
  type Script,
  type Story,
} from '../support/recalled-stories.ts'
import { numberOfRuns } from '../support/number-of-runs.ts'

const ALL = { replaysTools: true }

const READABLE: readonly MarkerPlacement[] = ['start', 'end', 'twice', 'escaped', 'crlf']
const UNREADABLE: readonly MarkerPlacement[] = ['none', 'fenced', 'elsewhere']

const joiner = fc.constantFrom('\n', '\n\n', '\r\n', null)

const marked: fc.Arbitrary<ClientHabits> = fc.record({
  keepsCalls: fc.boolean(),
  marks: fc.constantFrom(...READABLE),
  joiner,
})

/** Without readable markers, a client's answers are recognized only by their calls. */
const unmarked: fc.Arbitrary<ClientHabits> = fc.record({
  keepsCalls: fc.constant(true),
  marks: fc.constantFrom(...UNREADABLE),
  joiner,
})

const habits = fc.oneof(marked, unmarked)

/** A chat and other stored chats with the same few texts. */
interface World {
  readonly story: Story
  readonly items: readonly Item[]
  readonly turns: readonly RecordedTurn[]
}

function worldOf(scripts: readonly Script[], habits: ClientHabits): World {
  const [story, ...others] = scripts.map((script, at) => buildStory(script, String(at), habits))
  if (story === undefined) throw new Error('no story')
  const turns = [story, ...others].flatMap((one) => [
    ...one.steps.map(({ turn }) => turn),
    ...one.siblings,
  ])
  return {
    story,
    items: [...listItemsSentBack(story.steps, habits), user('And now?')],
    turns: turns.toReversed(),
  }
}

function recall({ items, turns }: Pick<World, 'items' | 'turns'>) {
  return restoreForgottenItems(items, splitIntoSegments(items), turns, ALL)
}

const scripts = fc.array(script, { minLength: 1, maxLength: 3 })

const ownScripts = scripts.map((all) => all.map((one, at) => withUniqueTexts(one, `Story ${at}`)))

test('if all texts are unique, all recorded items are restored, whatever the client does with markers (C131)', () => {
  fc.assert(
    fc.property(ownScripts, habits, (scripts, habits) => {
      const world = worldOf(scripts, habits)
      const { items, parent } = recall(world)
      expect(recallableItems(items)).toEqual(
        recallableItems([...recordedItems(world.story), user('And now?')]),
      )
      expect(parent).toBe(world.story.steps.at(-1)?.turn)
    }),
    numberOfRuns(80),
  )
})

test('a marker restores the recorded items of its own turn even if answers in other branches and chats have equal texts', () => {
  fc.assert(
    fc.property(scripts, marked, (scripts, habits) => {
      const world = worldOf(scripts, habits)
      expect(recallableItems(recall(world).items)).toEqual(
        recallableItems([...recordedItems(world.story), user('And now?')]),
      )
    }),
    numberOfRuns(80),
  )
})

test('a recorded item of another branch or of another chat is never restored (C132)', () => {
  const textOnly = fc.record({
    keepsCalls: fc.constant(false),
    marks: fc.constantFrom(...UNREADABLE),
    joiner,
  })
  const worlds = fc.oneof(
    fc.tuple(scripts, habits),
    // The joined text of several turns may equal the text of another chat.
    fc.tuple(ownScripts, textOnly),
  )
  fc.assert(
    fc.property(worlds, ([scripts, habits]) => {
      const { story, items, turns } = worldOf(scripts, habits)
      const own = new Set(story.steps.map(({ turn }) => turn))
      const strange = turns
        .filter((turn) => !own.has(turn))
        .flatMap(({ input, output }) => [...input, ...output])
      const isStrange = new Set<Item>(strange)
      const recalled = recall({ items, turns })
      expect(recalled.items.filter((item) => isStrange.has(item))).toEqual([])
      expect(recalled.usedTurns.filter((turn) => !own.has(turn))).toEqual([])
    }),
    numberOfRuns(100),
  )
})

const plain: fc.Arbitrary<ClientHabits> = fc.record({
  keepsCalls: fc.boolean(),
  marks: fc.constantFrom('start', 'end', 'twice', 'escaped'),
  joiner: fc.constantFrom('\n', '\n\n', null),
})

test('if the user edits one message of an answer, the edit stays, and only the items that led to edited text are lost', () => {
  const edits = fc.constantFrom<(text: string) => string>(
    () => 'Something else.',
    (text) => `Not ${text}`,
    (text) => `${text} Or so.`,
    (text) => text.slice(0, -1),
    (text) => text.replace('.', ':\n\n    a()\n    b()'),
    // Indentation has a meaning in code and in lists.
    (text) => text.replaceAll('\n', '\n    '),
    (text) => text.replace('\nStory', '\n\tStory'),
    (text) => text.replaceAll(' ', '  '),
  )
  fc.assert(
    fc.property(ownScripts, plain, edits, fc.nat(), (scripts, habits, edit, pick) => {
      const { story } = worldOf(scripts, habits)
      // The turn of a discarded answer fits a rewritten one as well.
      const turns = story.steps.map(({ turn }) => turn)
      const said = recordedItems(story).filter(
        (item) => item.type === 'message' && item.role === 'assistant',
      )
      const target = said[pick % said.length]
      fc.pre(target !== undefined)
      const items = listItemsSentBack(story.steps, habits, false, (text, turn, place) =>
        turn.output.filter((item) => item.type === 'message')[place] === target ? edit(text) : text,
      )
      const restored = recall({ items, turns }).items
      expect(spoken(restored)).toBe(spoken(items))
      const editedTurn = turns.findIndex(({ output }) => output.includes(target))
      const before = turns.slice(0, editedTurn).flatMap(({ output }) => output)
      const isCall = ({ type }: Item) => type.startsWith('function_call')
      const isRecalled = (item: Item) => isCall(item) || item.type !== 'message'
      // Every recorded item before the edited turn is restored, and all calls and outputs.
      expect(restored.filter((item) => before.includes(item) && isRecalled(item))).toEqual(
        before.filter(isRecalled),
      )
      expect(recallableItems(restored.filter(isCall))).toEqual(
        recallableItems(recordedItems(story).filter(isCall)),
      )
    }),
    numberOfRuns(80),
  )
})

function spoken(items: readonly Item[]): string {
  return items
    .map((item) => (item.type === 'message' ? normalizeText(textOf(item.content)) : ''))
    .join('')
}

test('text that only the client has comes after the recorded reasoning that led to it', () => {
  fc.assert(
    fc.property(ownScripts, plain, (scripts, habits) => {
      const { story, items, turns } = worldOf(scripts, habits)
      const cutOff = story.steps
        .map(({ turn }) => turn)
        .findLast(({ output }) => {
          const [before, last] = output.slice(-2)
          return before?.type === 'reasoning' && last?.type === 'message'
        })
      fc.pre(cutOff !== undefined)
      const known = turns.map((turn) =>
        turn === cutOff ? { ...turn, fingerprint: null, output: turn.output.slice(0, -1) } : turn,
      )
      const recalled = recall({ items, turns: known })
      // A turn without text is not found if its question repeats.
      fc.pre(recalled.usedTurns.length === story.steps.length)
      expect(recallableItems(recalled.items)).toEqual(
        recallableItems([...recordedItems(story), user('And now?')]),
      )
    }),
    numberOfRuns(80),
  )
})

test('restoreForgottenItems does not throw for any list of items with any stored turns', () => {
  fc.assert(
    fc.property(
      conversation,
      fc.array(fc.nat(), { maxLength: 9 }),
      fc.boolean(),
      (items, cuts, replaysTools) => {
        const plan = splitIntoSegments(items)
        const turns = cuts.map((cut, at) => ({
          id: String(at),
          thread: 't',
          parent: at === 0 ? null : String(cut % (at + 1)),
          depth: 0,
          fingerprint: plan.segments[cut % 7]?.fingerprint ?? null,
          reasoningRefusedBy: null,
          createdAtMs: 0,
          usedAtMs: 0,
          input: items.slice(cut % 11, cut % 5),
          output: items.slice(cut % 13, (cut % 13) + 3),
        }))
        const once = restoreForgottenItems(items, plan, turns, { replaysTools })
        expect(once.notes.every(({ at }) => at !== undefined && at <= once.items.length)).toBe(true)
        if (once.usedTurns.length === 0) expect(once.items).toBe(items)
      },
    ),
    numberOfRuns(100),
  )
})

test('restoring a restored list again changes nothing', () => {
  fc.assert(
    fc.property(scripts, habits, (scripts, habits) => {
      const world = worldOf(scripts, habits)
      const once = recall(world)
      const twice = recall({ items: once.items, turns: world.turns })
      expect(twice.items).toBe(once.items)
    }),
    numberOfRuns(80),
  )
})

test('a restored list has no call without its output, and no output without its call', () => {
  fc.assert(
    fc.property(scripts, habits, fc.boolean(), (scripts, habits, replaysTools) => {
      const { items, turns } = worldOf(scripts, habits)
      const recalled = restoreForgottenItems(items, splitIntoSegments(items), turns, {
        replaysTools,
      })
      const partners = findToolCallPairs(recalled.items)
      const alone = recalled.items.filter(
        (item, at) => readToolCallIdentity(item) !== null && partners[at] === UNPAIRED,
      )
      expect(alone).toEqual([])
    }),
    numberOfRuns(100),
  )
})

test("restoring does not modify the client's items and the stored turns", () => {
  fc.assert(
    fc.property(scripts, habits, (scripts, habits) => {
      const world = worldOf(scripts, habits)
      deepFreeze(world.items)
      deepFreeze(world.turns)
      expect(recall(world)).toEqual(recall(world))
      expect(
        restoreForgottenItems(world.items, splitIntoSegments(world.items), [], ALL).usedTurns,
      ).toEqual([])
    }),
    numberOfRuns(50),
  )
})
