import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { LOCK_LEASE_MS, lockConversation } from '../../../src/gateway/history/lock-conversation.ts'
import type {
  ConversationHold,
  ConversationStore,
} from '../../../src/store/conversations/conversation-store-interface.ts'
import type { GatewayDependencies } from '../../../src/gateway/dependencies-interface.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

/** A store that writes down who held what until when, and fails where it is told to. */
function diary(held: Awaited<ReturnType<ConversationStore['holdConversation']>>, fails = false) {
  const calls: string[] = []
  const logged: string[] = []
  const note = <Value>(verb: string, value: Value, { by, untilMs }: Partial<ConversationHold>) => {
    const until = untilMs === undefined ? '' : ` +${untilMs - Date.now()}`
    calls.push(`${verb} ${by}${until}`)
    return fails ? Promise.reject(new Error('away')) : Promise.resolve(value)
  }
  const conversations = {
    holdConversation: (hold: ConversationHold) => {
      calls.push(`hold ${hold.by}`)
      return Promise.resolve(held)
    },
    renewHold: (hold: ConversationHold) => note('renew', true, hold),
    letGo: (hold: Partial<ConversationHold>) => note('let go', undefined, hold),
  }
  const log = (_: string, event: string) => void logged.push(event)
  const world = { conversations, nowMs: Date.now, log } as unknown as GatewayDependencies
  return {
    calls,
    logged,
    hold: () =>
      lockConversation('conv_1', { tenant: 'me', user: null }, 'T1', world, 'conversation'),
  }
}

const NOTHING = { context: null, resetAfter: null }

describe('a conversation that is held', () => {
  test('is held again and again, until it is let go', async () => {
    const { calls, hold } = diary({ type: 'held', ...NOTHING, head: 'H' })
    const held = await hold()
    expect(held.head).toBe('H')
    await vi.advanceTimersByTimeAsync(LOCK_LEASE_MS)
    expect(calls).toEqual(['hold T1', ...Array<string>(3).fill(`renew T1 +${LOCK_LEASE_MS}`)])
    await held.release()
    await vi.advanceTimersByTimeAsync(10 * LOCK_LEASE_MS)
    expect(calls.slice(4)).toEqual(['let go T1'])
  })

  test('is no more spoken of when somebody else lets it go', async () => {
    const { calls, hold } = diary({ type: 'held', ...NOTHING, head: null })
    const held = await hold()
    held.stopRenewing()
    await vi.advanceTimersByTimeAsync(10 * LOCK_LEASE_MS)
    expect(calls).toEqual(['hold T1'])
  })

  test('does not fail a run whose database is away for a while', async () => {
    const { logged, hold } = diary({ type: 'held', ...NOTHING, head: null }, true)
    const held = await hold()
    await vi.advanceTimersByTimeAsync(LOCK_LEASE_MS / 3)
    await held.release()
    expect(logged).toEqual(['hold-not-renewed', 'hold-not-released'])
  })
})

describe('a conversation that cannot be held', () => {
  test.each([
    ['busy', 400, 'conversation_locked', 'Another process is currently operating'],
    ['unknown', 404, null, "Conversation with id 'conv_1' not found."],
  ] as const)('because it is %s refuses the request', async (type, status, code, words) => {
    const { calls, hold } = diary({ type })
    await expect(hold()).rejects.toMatchObject({
      failure: {
        status,
        code,
        param: 'conversation',
        message: expect.stringContaining(words) as string,
      },
    })
    await vi.advanceTimersByTimeAsync(10 * LOCK_LEASE_MS)
    expect(calls).toEqual(['hold T1'])
  })
})
