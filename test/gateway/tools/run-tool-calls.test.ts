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
const IMAGE: Item = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }],
}
const ITEMS: readonly Item[] = [
  { type: 'function_call_output', call_id: 'a', output: 'an older one' },
  { type: 'function_call_output', call_id: 'a', output: LONG },
  { type: 'function_call_output', call_id: 'e', output: '🦊🦊🦊' },
  IMAGE,
]

function createContext(policy: ContextPolicy): ToolRunContext {
  const ports = { log } as Partial<LayerPorts> as LayerPorts
  return { policy, items: ITEMS, readableItems: ITEMS, caller: { tenant: 't', user: null }, ports }
}

async function runTool(
  tool: GatewayTool,
  args: object | string,
  policy: ContextPolicy = capped,
): Promise<string> {
  const text = typeof args === 'string' ? args : JSON.stringify(args)
  const call = createCall(tool.tool.name, text)
  const [output] = await runToolCalls([call], [tool], createContext(policy))
  return textOf(output?.output ?? '')
}

function createCall(name: string, text: string): FunctionCall {
  return { type: 'function_call', call_id: 'h', name, arguments: text }
}

describe('the gateway tool `expand_output`', () => {
  test('expand_output returns the requested piece of the latest output with the requested call id', async () => {
    expect(await runTool(expandOutputTool, { call_id: 'a', from: 5, to: 12 })).toBe(
      'Characters 5 to 12 of 10000:\nfghijab',
    )
  })

  test.each([200, 300, 4000])(
    'expand_output returns at most %i characters if that is the limit for outputs',
    async (cap) => {
      const policy = { ...capped, outputs: { ...capped.outputs, cap } }
      const answer = await runTool(expandOutputTool, { call_id: 'a' }, policy)
      expect(answer).toMatch(/^Characters 0 to \d+ of 10000:/)
      expect(answer.length).toBeLessThanOrEqual(cap)
      expect(answer.length).toBeGreaterThan(cap / 2)
    },
  )

  test('`expand_output` returns no half of a surrogate pair at the ends of a range', async () => {
    const answer = await runTool(expandOutputTool, { call_id: 'e', from: 1, to: 3 })
    expect(answer.isWellFormed()).toBe(true)
  })

  test.each<readonly [object, RegExp]>([
    [{}, /must be a string/],
    [{ call_id: 7 }, /must be a string/],
    [{ call_id: 'x' }, /no output of a call "x"/],
    [{ call_id: 'a', from: 20_000 }, /nothing there: the output has 10000/],
    [{ call_id: 'a', from: 'two', to: null }, /^Characters 0 to/],
    [{ call_id: 'a', from: -1e9, to: 3 }, /^Characters 0 to 3 of/],
  ])(
    'for the arguments %o, expand_output returns a piece of the output or says what is wrong',
    async (args, expected) => {
      expect(await runTool(expandOutputTool, args)).toMatch(expected)
    },
  )
})

describe('the gateway tool `view_media`', () => {
  test('view_media returns the media item of a handle', async () => {
    const call = createCall('view_media', '{"handle":"media_1"}')
    const [output] = await runToolCalls([call], [viewMediaTool], createContext(capped))
    expect(output?.output).toMatchObject([
      { type: 'input_text' },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
    ])
  })

  test('C80: view_media returns a text that says that a handle is unknown', async () => {
    expect(await runTool(viewMediaTool, { handle: 'media_7' })).toBe('There is no "media_7" here.')
    expect(await runTool(viewMediaTool, {})).toMatch(/must be a string/)
  })
})

describe('outputs of gateway calls that fail', () => {
  const failing = (run: GatewayTool['run']): GatewayTool => ({ ...expandOutputTool, run })

  test('if a gateway tool throws, the output of its call says that it failed, without the error message', async () => {
    const answer = await runTool(
      failing(() => {
        throw new Error('secret')
      }),
      {},
    )
    expect(answer).toBe('The tool failed.')
    const why = { tool: 'expand_output', why: 'secret' }
    expect(log).toHaveBeenCalledWith('warn', 'house-tool-failed', why)
  })

  test('if a gateway tool rejects, the output of its call says that it failed', async () => {
    expect(
      await runTool(
        failing(() => Promise.reject(new Error('no'))),
        {},
      ),
    ).toBe('The tool failed.')
  })

  test('if a gateway tool does not resolve in time, the output of its call says that it took too long', async () => {
    vi.useFakeTimers()
    const answer = runTool(
      failing(() => new Promise(() => undefined)),
      {},
    )
    await vi.runAllTimersAsync()
    expect(await answer).toBe('The tool took too long.')
    vi.useRealTimers()
  })

  test.each(['[]', '{', 'null', '"a"'])(
    'the output of a call with the arguments %s says that they are no JSON object',
    async (args) => {
      expect(await runTool(expandOutputTool, args)).toBe('The arguments are not a JSON object.')
    },
  )

  test('a call with an empty text as arguments runs the gateway tool', async () => {
    expect(
      await runTool(
        failing(() => 'fine'),
        '',
      ),
    ).toBe('fine')
  })

  test('if a gateway tool returns nothing, the output of its call says so', async () => {
    expect(
      await runTool(
        failing(() => ''),
        {},
      ),
    ).toBe('There is nothing.')
  })

  test('a gateway call that is not run gets an output too', () => {
    const [output] = skipToolCalls([createCall('expand_output', '{}')])
    expect(output).toMatchObject({ call_id: 'h', type: 'function_call_output' })
  })
})
