import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { lockConversation } from '../../../src/gateway/history/lock-conversation.ts'
import type {
  ConversationLockRequest,
  ConversationStore,
} from '../../../src/store/conversations/conversation-store-interface.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import type { GatewayDependencies } from '../../../src/gateway/dependencies-interface.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

const LEASE_MS = 30_000

/** A store that records each call with the length of the lock, e.g. `renew T1 30000`. `fails`: whether a call fails. */
function recordCalls(
  result: Awaited<ReturnType<ConversationStore['lockConversation']>>,
  fails: () => boolean = () => false,
) {
  const calls: string[] = []
  const logged: string[] = []
  const record = <Value>(
    verb: string,
    value: Value,
    { turnId, leaseMs }: Partial<ConversationLockRequest>,
  ) => {
    calls.push(`${verb} ${turnId}${leaseMs === undefined ? '' : ` ${leaseMs}`}`)
    return fails() ? Promise.reject(new Error('away')) : Promise.resolve(value)
  }
  const conversations = {
    lockConversation: (hold: ConversationLockRequest) => {
      calls.push(`hold ${hold.turnId}`)
      return fails() ? Promise.reject(new Error('away')) : Promise.resolve(result)
    },
    renewLock: (hold: ConversationLockRequest) => record('renew', true, hold),
    unlockConversation: (hold: Partial<ConversationLockRequest>) =>
      record('let go', undefined, hold),
  }
  const log = (_: string, event: string) => void logged.push(event)
  const settings = readSettings({ RUN_LEASE_SECONDS: String(LEASE_MS / 1000) })
  const ports = { conversations, settings, log } as unknown as GatewayDependencies
  return {
    calls,
    logged,
    lock: () =>
      lockConversation('conv_1', { tenant: 'me', user: null }, 'T1', ports, 'conversation'),
  }
}

const NO_SETTINGS = { context: null, resetAfterTurnId: null }
const HELD = { type: 'held', ...NO_SETTINGS, headTurnId: null } as const

describe('renewing and releasing the lock of a conversation', () => {
  test('the lock of a conversation is renewed three times in RUN_LEASE_SECONDS until it is released', async () => {
    const { calls, lock } = recordCalls({ type: 'held', ...NO_SETTINGS, headTurnId: 'H' })
    const locked = await lock()
    expect(locked.headTurnId).toBe('H')
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(calls).toEqual(['hold T1', ...Array<string>(3).fill(`renew T1 ${LEASE_MS}`)])
    await locked.release()
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
    expect(calls.slice(4)).toEqual(['let go T1'])
  })

  test('the lock of a conversation is no longer renewed after its `stopRenewing` is called', async () => {
    const { calls, lock } = recordCalls({ type: 'held', ...NO_SETTINGS, headTurnId: null })
    const locked = await lock()
    locked.stopRenewing()
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
    expect(calls).toEqual(['hold T1'])
  })

  test('a failure to renew or release the lock of a conversation is logged instead of thrown', async () => {
    let isAway = false
    const { logged, lock } = recordCalls(HELD, () => isAway)
    const locked = await lock()
    isAway = true
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3)
    await locked.release()
    expect(logged).toEqual(['hold-not-renewed', 'hold-not-released'])
  })
})

describe('locks that cannot be released because the database does not answer', () => {
  test('a lock is released within a second after the database answers again', async () => {
    let isAway = false
    const { calls, lock } = recordCalls(HELD, () => isAway)
    const locked = await lock()
    isAway = true
    await locked.release()
    await vi.advanceTimersByTimeAsync(5_000)
    isAway = false
    calls.length = 0
    await vi.advanceTimersByTimeAsync(1_000)
    expect(calls).toEqual(['let go T1'])
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
    expect(calls).toEqual(['let go T1'])
  })

  test('a conversation is released that the database may have locked without an answer', async () => {
    let isAway = true
    const { calls, lock } = recordCalls(HELD, () => isAway)
    await expect(lock()).rejects.toMatchObject({ failure: { status: 503 } })
    isAway = false
    await vi.advanceTimersByTimeAsync(1_000)
    expect(calls).toEqual(['hold T1', 'let go T1'])
  })

  test('a late release does not end a new lock of the same turn', async () => {
    let isAway = true
    const { calls, lock } = recordCalls(HELD, () => isAway)
    await expect(lock()).rejects.toMatchObject({ failure: { status: 503 } })
    isAway = false
    const locked = await lock()
    locked.stopRenewing()
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
    expect(calls).toEqual(['hold T1', 'hold T1'])
  })

  test('a lock is not released any more after it has expired', async () => {
    let isAway = true
    const { calls, lock } = recordCalls(HELD, () => isAway)
    await expect(lock()).rejects.toMatchObject({ failure: { status: 503 } })
    await vi.advanceTimersByTimeAsync(2 * LEASE_MS)
    isAway = false
    calls.length = 0
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
    expect(calls).toEqual([])
  })
})

test.each([
  ['busy', 400, 'conversation_locked', 'Another process is currently operating'],
  ['unknown', 404, null, "Conversation with id 'conv_1' not found."],
] as const)(
  'locking a conversation that is %s throws an error that names the field `conversation`',
  async (type, status, code, message) => {
    const { calls, lock } = recordCalls({ type })
    await expect(lock()).rejects.toMatchObject({
      failure: {
        status,
        code,
        param: 'conversation',
        message: expect.stringContaining(message) as string,
      },
    })
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
    expect(calls).toEqual(['hold T1'])
  },
)
