/** Starts a gateway with a scripted upstream, and sessions of Open WebUI users with it. */
import { randomUUID } from 'node:crypto'
import { startGateway } from '../gateway.ts'
import type { Account } from './client.ts'
import { PROFILE_SETTINGS, type Profile } from './headers.ts'
import { startScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts'
import { startSession, type SessionOptions, type ChatSession } from './chat-session.ts'

export interface TestSetup {
  readonly gateway: Awaited<ReturnType<typeof startGateway>>
  readonly upstream: ScriptedUpstream
  readonly account: (more?: Partial<Account>) => Account
  readonly session: (more?: Partial<Account>, opening?: Partial<SessionOptions>) => ChatSession
  readonly close: () => Promise<void>
}

/** All Open WebUI instances use the same header profile, which the gateway trusts. */
export async function startTestSetup(
  profile: Profile = 'full',
  settings: Readonly<Record<string, string>> = {},
  thinkingMs?: number,
): Promise<TestSetup> {
  const upstream = await startScriptedUpstream(thinkingMs)
  const gateway = await startGateway({
    // Recalled items must be visible unchanged.
    CONTEXT: 'replay',
    ...PROFILE_SETTINGS[profile],
    ...upstream.environment,
    ...settings,
  })
  const account = (more: Partial<Account> = {}): Account => ({
    url: gateway.url,
    connection: 'chat',
    profile,
    key: 'any',
    user: randomUUID(),
    keepsReasoning: false,
    params: {},
    inlet: (messages) => messages,
    ...more,
  })
  return {
    gateway,
    upstream,
    account,
    session: (more, opening) =>
      startSession({ upstream, account: account(more), model: 'gpt-5', ...opening }),
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}
