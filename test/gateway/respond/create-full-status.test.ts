/** The status line that Open WebUI shows above every answer with `X-Backstory-Status: full`. */
import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { createOpenWebUiStatusMessage } from '../../../src/core/stream/open-webui-status-message.ts'
import type { TokenUsage } from '../../../src/core/stream-event.ts'
import { createFullStatus } from '../../../src/gateway/respond/create-full-status.ts'
import { NO_HISTORY } from '../../../src/gateway/history/loaded-history.ts'

const THOUGHT: Item = { type: 'reasoning', summary: [] }
const OUTPUT: Item = { type: 'function_call_output', call_id: 'c', output: 'fog' }
const QUESTION: Item = { type: 'message', role: 'user', content: [] }

function usage(cachedTokens: number | null, inputTokens = 1000): TokenUsage {
  const rest = { cacheWriteTokens: null, outputTokens: 1, reasoningTokens: null }
  return { ...rest, inputTokens, cachedTokens, totalTokens: inputTokens + 1 }
}

/** The items in front of the question were restored by recall. */
function statusOf(restored: readonly Item[], used: TokenUsage | null, unsent = -1): string {
  const items = [...restored, QUESTION]
  const notes = restored.map((_, at) => ({ did: 'added', why: 'recalled', at }) as const)
  const dropped = { did: 'dropped', why: 'x', by: 'wire', at: unsent } as const
  const positions = [...items.keys()]
  const prepared = { items, history: NO_HISTORY, notes: [...notes, dropped] }
  return createFullStatus({ ...prepared, originalPositions: positions }, used, null).text
}

test.each([
  [[], usage(0), 'Nothing restored · 0 % from cache'],
  [[THOUGHT], usage(841), '1 thought restored · 84 % from cache'],
  [
    [THOUGHT, THOUGHT, OUTPUT],
    usage(1000),
    '2 thoughts and 1 tool result restored · 100 % from cache',
  ],
  [[OUTPUT, OUTPUT], usage(999), '2 tool results restored · 99 % from cache'],
  [[QUESTION], null, 'Nothing restored'],
  [[THOUGHT], usage(null), '1 thought restored'],
  [[THOUGHT], usage(0, 0), '1 thought restored'],
])(
  'the full status line of the restored items %j and the usage %j is "%s"',
  (items, used, text) => {
    expect(statusOf(items, used)).toBe(text)
  },
)

test('the full status line counts only items that were sent', () => {
  expect(statusOf([THOUGHT, THOUGHT], null, 1)).toBe('1 thought restored')
})

test('the full status line counts the items of a conversation that was named by id', () => {
  const items = [THOUGHT, OUTPUT, QUESTION]
  const history = { ...NO_HISTORY, items: [THOUGHT, OUTPUT] }
  const prepared = { items, history, notes: [], originalPositions: [0, 1, 2] }
  expect(createFullStatus(prepared, null, null).text).toBe('1 thought and 1 tool result restored')
})

test('the full status line repeats the line that stood above the answer', () => {
  const status = createOpenWebUiStatusMessage('The memory could not be reached', true)
  const prepared = { items: [QUESTION], history: NO_HISTORY, notes: [], originalPositions: [0] }
  expect(createFullStatus(prepared, usage(0), status).text).toBe(
    'Nothing restored · 0 % from cache · The memory could not be reached',
  )
})
