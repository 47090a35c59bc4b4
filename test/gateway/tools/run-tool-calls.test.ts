import { describe, expect, test, vi } from 'vitest'
import { type FunctionCall, type Item, textOf } from '../../../src/core/item.ts'
import { PRESETS, type ContextPolicy } from '../../../src/core/context-policy.ts'
import { runToolCalls, skipToolCalls } from '../../../src/gateway/tools/run-tool-calls.ts'
import { expandOutputTool } from '../../../src/gateway/tools/expand-output-tool.ts'
import type {
  ToolRunContext,
  GatewayTool,
} from '../../../src/gateway/tools/gateway-tool-interface.ts'
import { viewMediaTool } from '../../../src/gateway/tools/view-media-tool.ts'
import type { LayerPorts } from '../../../src/memory/memory-layer-interface.ts'

const { capped } = PRESETS
const log = vi.fn()

const LONG = 'abcdefghij'.repeat(1000)
const PICTURE: Item = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }],
}
const ITEMS: readonly Item[] = [
  { type: 'function_call_output', call_id: 'a', output: 'an older one' },
  { type: 'function_call_output', call_id: 'a', output: LONG },
  { type: 'function_call_output', call_id: 'e', output: '🦊🦊🦊' },
  PICTURE,
]

function contextOf(policy: ContextPolicy): ToolRunContext {
  const ports = { log } as Partial<LayerPorts> as LayerPorts
  return { policy, items: ITEMS, withinReach: ITEMS, caller: { tenant: 't', user: null }, ports }
}

async function ask(
  tool: GatewayTool,
  given: object | string,
  policy: ContextPolicy = capped,
): Promise<string> {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const call = callOf(tool.tool.name, text)
  const [output] = await runToolCalls([call], [tool], contextOf(policy))
  return textOf(output?.output ?? '')
}

function callOf(name: string, text: string): FunctionCall {
  return { type: 'function_call', call_id: 'h', name, arguments: text }
}

describe('expand_output', () => {
  test('reads the piece that is asked for, of the newest output under that id', async () => {
    expect(await ask(expandOutputTool, { call_id: 'a', from: 5, to: 12 })).toBe(
      'Characters 5 to 12 of 10000:\nfghijab',
    )
  })

  test.each([200, 300, 4000])('never says more than a cap of %i lets stand', async (cap) => {
    const policy = { ...capped, outputs: { ...capped.outputs, cap } }
    const answer = await ask(expandOutputTool, { call_id: 'a' }, policy)
    expect(answer).toMatch(/^Characters 0 to \d+ of 10000:/)
    expect(answer.length).toBeLessThanOrEqual(cap)
    expect(answer.length).toBeGreaterThan(cap / 2)
  })

  test('does not cut a character in two', async () => {
    const answer = await ask(expandOutputTool, { call_id: 'e', from: 1, to: 3 })
    expect(answer.isWellFormed()).toBe(true)
  })

  test.each<readonly [object, RegExp]>([
    [{}, /must be a string/],
    [{ call_id: 7 }, /must be a string/],
    [{ call_id: 'x' }, /no output of a call "x"/],
    [{ call_id: 'a', from: 20_000 }, /nothing there: the output has 10000/],
    [{ call_id: 'a', from: 'two', to: null }, /^Characters 0 to/],
    [{ call_id: 'a', from: -1e9, to: 3 }, /^Characters 0 to 3 of/],
  ])('answers %o', async (given, words) => {
    expect(await ask(expandOutputTool, given)).toMatch(words)
  })
})

describe('view_media', () => {
  test('shows what a handle stands for', async () => {
    const call = callOf('view_media', '{"handle":"media_1"}')
    const [output] = await runToolCalls([call], [viewMediaTool], contextOf(capped))
    expect(output?.output).toMatchObject([
      { type: 'input_text' },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
    ])
  })

  test('C80 a handle of nothing here is said to be one', async () => {
    expect(await ask(viewMediaTool, { handle: 'media_7' })).toBe('There is no "media_7" here.')
    expect(await ask(viewMediaTool, {})).toMatch(/must be a string/)
  })
})

describe('whatever becomes of a tool, its call is answered', () => {
  const failing = (run: GatewayTool['run']): GatewayTool => ({ ...expandOutputTool, run })

  test('one that throws says that it failed, and not why', async () => {
    const answer = await ask(
      failing(() => {
        throw new Error('secret')
      }),
      {},
    )
    expect(answer).toBe('The tool failed.')
    const why = { tool: 'expand_output', why: 'secret' }
    expect(log).toHaveBeenCalledWith('warn', 'house-tool-failed', why)
  })

  test('so does one that rejects', async () => {
    expect(
      await ask(
        failing(() => Promise.reject(new Error('no'))),
        {},
      ),
    ).toBe('The tool failed.')
  })

  test('one that never answers is given up', async () => {
    vi.useFakeTimers()
    const answer = ask(
      failing(() => new Promise(() => undefined)),
      {},
    )
    await vi.runAllTimersAsync()
    expect(await answer).toBe('The tool took too long.')
    vi.useRealTimers()
  })

  test.each(['[]', '{', 'null', '"a"'])('arguments like %s are said to be none', async (given) => {
    expect(await ask(expandOutputTool, given)).toBe('The arguments are not a JSON object.')
  })

  test('no arguments are none', async () => {
    expect(
      await ask(
        failing(() => 'fine'),
        '',
      ),
    ).toBe('fine')
  })

  test('an answer that is empty says so', async () => {
    expect(
      await ask(
        failing(() => ''),
        {},
      ),
    ).toBe('There is nothing.')
  })

  test('one that is not run says so', () => {
    const [output] = skipToolCalls([callOf('expand_output', '{}')])
    expect(output).toMatchObject({ call_id: 'h', type: 'function_call_output' })
  })
})
