import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { resolvePolicy, type PolicyOverrides } from '../../src/core/context-policy.ts'
import {
  listTransforms,
  runTransforms,
  type TransformListOptions,
} from '../../src/context/list-and-run-transforms.ts'
import type { Transform } from '../../src/context/transform-interface.ts'
import { expectValidForProviders } from '../support/laws.ts'
import { show, talk } from '../support/talk.ts'
import { expectLinear } from '../support/count-reads.ts'

const rules = (
  overrides: PolicyOverrides = {},
  more: Partial<TransformListOptions> = {},
): TransformListOptions => ({
  policy: resolvePolicy([{ policy: 'replay', ...overrides }]),
  reader: null,
  ...more,
})
const keepTurns = (keepTurns: number) => ({ outputs: { keepTurns }, cuts: { minChars: 0 } })

const CLEAN = ['after-reset', 'strip-markers', 'strip-details', 'defuse-notices']

const listNames = (of: TransformListOptions) => listTransforms(of).map(({ name }) => name)

describe('the list of transforms of a policy', () => {
  test('the policy `replay` lists only transforms that clean, prune and label', () => {
    expect(listNames(rules())).toEqual([...CLEAN, 'prune-orphans', 'tell-speakers'])
  })

  test('calls and outputs without their partner are pruned before the windows and again after all transforms that drop items', () => {
    expect(listNames(rules({ window: { items: 40 }, ...keepTurns(10) }))).toEqual([
      ...CLEAN,
      'prune-orphans',
      'tell-speakers',
      'window-items',
      'bound-items',
      'shorten-tool-outputs',
      'prune-orphans',
    ])
  })

  test('if stub outputs are configured, they are added before any window counts items', () => {
    const names = listNames(rules({ window: { items: 40 } }, { unansweredCalls: 'stub' }))
    const first = [...CLEAN, 'prune-orphans', 'answer-calls', 'tell-speakers', 'window-items']
    expect(names.slice(0, first.length)).toEqual(first)
    expect(listNames(rules({}, { unansweredCalls: 'stub' }))).toContain('answer-calls')
    expect(listNames(rules({}, { unansweredCalls: 'drop' }))).not.toContain('answer-calls')
  })

  test('outputs are capped before the windows, which run for turns, items and tokens in this order', () => {
    const window = { turns: 8, items: 40, tokens: 9000 }
    expect(listNames(rules({ window, outputs: { cap: 4000 } }))).toEqual([
      ...CLEAN,
      'prune-orphans',
      'tell-speakers',
      'cap-outputs',
      'window-turns',
      'window-items',
      'window-tokens',
      'bound-items',
      'bound-tokens',
      'prune-orphans',
    ])
  })

  test('with `outputs.keep_turns: 0`, the policy shortens the outputs of finished rounds', () => {
    expect(listNames(rules(keepTurns(0)))).toContain('shorten-tool-outputs')
  })

  test('under a window of four items, a round with two hundred tool items is trimmed and keeps its question (C29)', () => {
    const items = [
      ...talk`
        user: go
        assistant: on my way
      `,
      ...Array.from({ length: 100 }).flatMap(
        (_, at) => talk`
          call ${String(at)}
          output ${String(at)} done
        `,
      ),
    ]
    const step = runTransforms(items, listTransforms(rules({ window: { items: 4 } })))
    expect(step.items.length).toBeLessThanOrEqual(16)
    expect(show(step.items.slice(0, 2))).toBe('user: go\nassistant: on my way')
    expectValidForProviders(step.items)
  })

  test('a running tool loop is sent complete up to four times the limit of the window', () => {
    const loop = [
      ...talk`user: go`,
      ...Array.from({ length: 6 }).flatMap(
        (_, at) => talk`
          call ${String(at)}
          output ${String(at)} done
        `,
      ),
    ]
    const before = talk`
      user: hello
      assistant: hello
      user: well
      assistant: well
    `
    const step = runTransforms(
      [...before, ...loop],
      listTransforms(rules({ window: { items: 4 } })),
    )
    expect(step.items).toEqual([...before.slice(2), ...loop])
  })

  test('an output is dropped if a window has dropped its call', () => {
    const items = talk`
      user: look
      call a
      assistant: I am looking
      user: well?
      output a found
      assistant: here it is
    `
    const { items: kept, notes } = runTransforms(
      items,
      listTransforms(rules({ window: { items: 3 } })),
    )
    expect(show(kept)).toBe('user: well?\nassistant: here it is')
    expect(notes.map(({ did, at, by }) => `${at} ${did} by ${by}`)).toEqual([
      '4 moved by prune-orphans',
      '0 dropped by window-items',
      '1 dropped by window-items',
      '4 dropped by window-items',
      '2 dropped by window-items',
    ])
  })

  test('running all transforms takes linear time, for up to a hundred thousand items', () => {
    const rounds = (count: number) =>
      Array.from({ length: count }).flatMap(
        (_, at) => talk`
          user: ${String(at)}
          sealed: ${String(at)}
          call ${String(at % 7)}
          output ${String(at % 7)} ${'x'.repeat(900)}
          assistant: ${String(at)}
        `,
      )
    const all = (items: readonly Item[]) =>
      runTransforms(items, listTransforms(rules(keepTurns(10))))
    const few = (items: readonly Item[]) =>
      runTransforms(items, listTransforms(rules({ window: { items: 40 }, ...keepTurns(10) })))
    expect(all(rounds(20_000)).notes.length).toBe(19_985)
    expect(few(rounds(20_000)).items.length).toBeLessThanOrEqual(40)
    expectLinear(500, rounds, all)
    expectLinear(500, rounds, few)
  })
})

describe('results and notes of a pipeline', () => {
  const [a, b, c, d] = talk`
    user: a
    user: b
    user: c
    user: d
  `.map((item): [Item] => [item]) as [[Item], [Item], [Item], [Item]]
  const [extra, other] = talk`
    developer: extra
    user: other
  ` as [Item, Item]

  const drop = (at: number): Transform => ({
    name: 'drop',
    run: (items) => ({
      items: items.toSpliced(at, 1),
      notes: [{ did: 'dropped', at, why: 'test' }],
    }),
  })
  const change = (at: number): Transform => ({
    name: 'change',
    run: (items) => ({
      items: items.with(at, { ...other }),
      notes: [
        { did: 'changed', at, why: 'test' },
        { did: 'changed', at, why: 'test-again' },
      ],
    }),
  })
  const moveToFront = (at: number): Transform => ({
    name: 'move',
    run: (items) => ({
      items: [...items.slice(at, at + 1), ...items.toSpliced(at, 1)],
      notes: [{ did: 'moved', at, why: 'test' }],
    }),
  })
  const add = (at: number): Transform => ({
    name: 'add',
    run: (items) => ({
      items: items.toSpliced(at, 0, extra),
      notes: [{ did: 'added', at, why: 'test' }],
    }),
  })
  const nothing: Transform = { name: 'nothing', run: (items) => ({ items, notes: [] }) }
  const items = [a, b, c, d].flat()
  const places = (...transforms: readonly Transform[]) =>
    runTransforms(items, transforms).notes.map(({ by, at }) => `${by} ${at}`)

  test('a pipeline that changes nothing returns the same list', () => {
    expect(runTransforms(items, [nothing, nothing]).items).toBe(items)
    expect(runTransforms(items, [])).toMatchObject({ items, notes: [] })
  })

  test('a note refers to the position of its item in the original list, even after earlier transforms dropped or moved items', () => {
    expect(places(drop(0), drop(0), drop(0))).toEqual(['drop 0', 'drop 1', 'drop 2'])
    expect(places(moveToFront(3), drop(0), drop(0))).toEqual(['move 3', 'drop 3', 'drop 0'])
    expect(places(drop(1), change(1), moveToFront(1), drop(0))).toEqual([
      'drop 1',
      'change 2',
      'change 2',
      'move 2',
      'drop 2',
    ])
  })

  test('two notes about one item do not shift the positions in notes about other items', () => {
    const changeAll: Transform = {
      name: 'change',
      run: (items) => ({
        items: items.map((item) => ({ ...item })),
        notes: items.flatMap((_, at) => change(at).run(items).notes),
      }),
    }
    expect(places(drop(1), changeAll, drop(1)).slice(-1)).toEqual(['drop 2'])
  })

  test('an item that a transform added has no original position', () => {
    expect(places(add(2), drop(2), drop(2))).toEqual(['add 2', 'drop undefined', 'drop 2'])
    expect(places(add(4))).toEqual(['add undefined'])
  })

  test('a note about no single item, e.g. about a request field, gets no index', () => {
    const remark: Transform = {
      name: 'remark',
      run: (items) => ({ items, notes: [{ did: 'changed', field: 'model', why: 'test' }] }),
    }
    expect(runTransforms(items, [remark]).notes).toEqual([
      { did: 'changed', field: 'model', why: 'test', by: 'remark' },
    ])
  })
})
