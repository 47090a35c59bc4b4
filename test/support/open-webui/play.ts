/** Plays chats that were made up, several at a time, and finds the shortest way to what went wrong. */
import { act, type Action } from './actions.ts'
import { DAMAGES, type DamageName } from './damage.ts'
import type { Profile } from './headers.ts'
import type { Story } from './story.ts'
import type { Connection } from './to-body.ts'
import type { Town } from './town.ts'

export interface Place {
  readonly profile: Profile
  /** How long the models think that are there. */
  readonly thinkingMs: number
}

export interface MadeUp extends Place {
  readonly model: string
  readonly connection: Connection
  readonly damage: DamageName | null
  readonly actions: readonly Action[]
}

export interface Mishap {
  readonly chat: MadeUp
  readonly trouble: readonly unknown[]
}

export type TownOf = (place: Place) => Town

const AT_ONCE = 20

/** All that went wrong: of each chat the first. */
export async function play(chats: readonly MadeUp[], townOf: TownOf): Promise<readonly Mishap[]> {
  const mishaps: Mishap[] = []
  const waiting = [...chats]
  const player = async (): Promise<void> => {
    for (let chat = waiting.shift(); chat !== undefined; chat = waiting.shift()) {
      const mishap = await tryOut(chat, townOf)
      if (mishap !== null) mishaps.push(mishap)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, player))
  return mishaps
}

/** Leaves out one thing after the other, as long as it goes wrong without it. */
export async function shortened(mishap: Mishap, townOf: TownOf): Promise<Mishap> {
  let shortest = mishap
  for (let at = mishap.chat.actions.length - 1; at >= 0; at -= 1) {
    const { chat } = shortest
    const next = await tryOut({ ...chat, actions: chat.actions.toSpliced(at, 1) }, townOf)
    if (next !== null) shortest = next
  }
  return shortest
}

async function tryOut(chat: MadeUp, townOf: TownOf): Promise<Mishap | null> {
  const { profile, thinkingMs, model, connection, damage, actions } = chat
  const inlet = damage === null ? undefined : DAMAGES[damage]
  const hasMarkers = profile !== 'bare' && inlet === undefined
  const account = { connection, ...(inlet === undefined ? {} : { inlet }) }
  let story: Story = townOf({ profile, thinkingMs }).story(account, { model, hasMarkers })
  for (const [at, action] of actions.entries()) {
    story = await act(story, action)
    const trouble = [...story.gaps, ...story.faults]
    if (trouble.length > 0) return { chat: { ...chat, actions: actions.slice(0, at + 1) }, trouble }
  }
  return null
}
