import { describe, expect, test } from 'vitest'
import { estimateItemTokens } from '../../src/core/items/item-tokens.ts'
import { PRESETS } from '../../src/core/context-policy.ts'
import type { MemoryLayer } from '../../src/memory/memory-layer-interface.ts'
import { renderLayerMessage } from '../../src/memory/insert-layer-blocks.ts'
import {
  loadLayerBlocks,
  budgetEnabledLayers,
  type SharedLayerContext,
} from '../../src/memory/load-layer-blocks.ts'
import type { LayerPorts } from '../../src/memory/memory-layer-interface.ts'

const logged: unknown[] = []
const RULES = { ...PRESETS.retain.layers, workingMemory: true, tokens: 1000 }
const NOBODY = () => undefined
const CONTEXT: SharedLayerContext = {
  owner: { tenant: 't', user: null },
  thread: 'thread',
  parent: null,
  isTemporary: false,
  jobStartedAtMs: 1,
  items: [],
  round: 1,
  question: 'What?',
  model: 'm',
  rules: RULES,
  ports: { log: (...line) => void logged.push(line) } as Pick<LayerPorts, 'log'> as LayerPorts,
}

function layer(name: string, fields: Partial<MemoryLayer> = {}): MemoryLayer {
  return {
    name,
    order: 100,
    isEnabled: ({ workingMemory }) => workingMemory,
    getStability: () => 'volatile',
    minTokens: 0,
    maxTokens: 500,
    timeoutMs: 50,
    loadBlock: async () => Promise.resolve({ text: name }),
    ...fields,
  }
}

const hang = layer('hang', { loadBlock: async () => new Promise(() => undefined) })
const broken = layer('broken', { loadBlock: async () => Promise.reject(new Error('no table')) })
const rash = layer('rash', {
  loadBlock() {
    throw new Error('at once')
  },
})

describe('loading of memory layers (C37)', () => {
  test("memory layers load in parallel, and their blocks are sorted by the layers' field `order`", async () => {
    const { blocks } = await loadLayerBlocks(
      CONTEXT,
      [layer('b', { order: 2 }), layer('a', { order: 1 })],
      NOBODY,
    )
    expect(blocks.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  test('a memory layer that fails, throws synchronously or is late is omitted, and the other layers are loaded', async () => {
    logged.length = 0
    const { blocks, notes } = await loadLayerBlocks(
      CONTEXT,
      [hang, broken, rash, hang, layer('fine')],
      NOBODY,
    )
    expect(blocks).toEqual([{ name: 'fine', stability: 'volatile', text: 'fine', changes: [] }])
    expect(notes.map(({ did, why }) => `${did} ${why}`)).toEqual([
      'dropped layer-late',
      'dropped layer-failed',
      'dropped layer-failed',
      'dropped layer-late',
    ])
    expect(notes.every(({ at, by }) => at === undefined && by === 'layers')).toBe(true)
    expect(logged).toHaveLength(4)
    expect(JSON.stringify(logged)).toContain('no table')
  })

  test('a memory layer that the context policy disables is not loaded', async () => {
    const asked: string[] = []
    const off = layer('off', {
      isEnabled: ({ facts }) => facts,
      loadBlock: async () => Promise.resolve((asked.push('off'), null)),
    })
    expect((await loadLayerBlocks(CONTEXT, [off], NOBODY)).blocks).toEqual([])
    expect(asked).toEqual([])
  })
})

describe('token limits of single memory layers (C39)', () => {
  const LONG = 'word '.repeat(2000)

  test('a memory block above its token limit is shortened, or omitted if it cannot be shortened', async () => {
    const short = layer('short', {
      loadBlock: async () =>
        Promise.resolve({
          text: LONG,
          shortenTo: (tokens: number) => LONG.slice(0, tokens * 4 - 20),
        }),
    })
    const long = layer('long', { order: 1, loadBlock: async () => Promise.resolve({ text: LONG }) })
    const { blocks, notes } = await loadLayerBlocks(
      CONTEXT,
      [long, short, layer('small', { order: 300 })],
      NOBODY,
    )
    expect(blocks.map(({ name }) => name)).toEqual(['short', 'small'])
    expect(notes.map(({ why }) => why)).toEqual(['layer-too-long'])
  })

  test('each memory layer gets its own token limit, and all blocks together stay within the common limit', async () => {
    const filling = (name: string) =>
      layer(name, {
        loadBlock: async ({ tokenLimit }) =>
          Promise.resolve({ text: 'abcd'.repeat(tokenLimit - 10) }),
      })
    const { blocks } = await loadLayerBlocks(CONTEXT, ['a', 'b', 'c'].map(filling), NOBODY)
    const told = blocks.map((block) => estimateItemTokens(renderLayerMessage(block, block.text)))
    expect(told).toHaveLength(3)
    expect(told.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(RULES.tokens)
    expect(
      budgetEnabledLayers(['a', 'b'].map(filling), RULES).map(({ tokenLimit }) => tokenLimit),
    ).toEqual([500, 500])
  })
})
