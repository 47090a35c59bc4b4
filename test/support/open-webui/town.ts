/** A gateway with a scripted model behind it, and the people who chat through it. */
import { randomUUID } from 'node:crypto'
import { startGateway } from '../gateway.ts'
import type { Account } from './client.ts'
import { PROFILE_SETTINGS, type Profile } from './headers.ts'
import { startScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts'
import { tellStory, type Beginning, type Story } from './story.ts'

export interface Town {
  readonly gateway: Awaited<ReturnType<typeof startGateway>>
  readonly upstream: ScriptedUpstream
  readonly account: (more?: Partial<Account>) => Account
  readonly story: (more?: Partial<Account>, opening?: Partial<Beginning>) => Story
  readonly close: () => Promise<void>
}

/** All its Open WebUIs tell of themselves in the same way, and the gateway believes that. */
export async function startTown(
  profile: Profile = 'full',
  settings: Readonly<Record<string, string>> = {},
  thinkingMs?: number,
): Promise<Town> {
  const upstream = await startScriptedUpstream(thinkingMs)
  const gateway = await startGateway({
    // What is remembered is to be seen as it is.
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
    story: (more, opening) =>
      tellStory({ upstream, account: account(more), model: 'gpt-5', ...opening }),
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}
