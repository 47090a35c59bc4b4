/**
 * Loads and renders a memory that is stored as a log of versions, e.g. the working memory.
 *
 * The memory of one conversation is stable: it is sent before the history, and its changes before
 * the questions of their rounds. The memory of a user is volatile: it is sent completely before the
 * latest question, because each conversation counts its own rounds, so changes have no common
 * positions. If the user is not known, each conversation has its own memory.
 */
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type {
  LayerKey,
  StoredLayerVersion,
} from '../../store/memory-layers/memory-layer-store-interface.ts'
import { splitSnapshotAndChanges, type MemoryChange } from './split-snapshot-and-changes.ts'
import type { LayerStability, LayerBlock, LayerContext } from '../memory-layer-interface.ts'

/** Functions for one layer that read its memory from the stored JSON and render it as text. */
export interface MemoryRenderer<Memory> {
  readonly layer: string
  readonly readMemory: (body: JsonObject) => Memory
  /**
   * Renders the memory as a text of at most `tokens` estimated tokens; parts that do not fit are
   * omitted. Returns `''` if there is nothing to send.
   */
  readonly renderMemory: (memory: Memory, tokens: number) => string
  /**
   * Renders the difference between two versions of the memory as a text that can be understood
   * without either version; `''` if nothing changed.
   */
  readonly renderChange: (before: Memory | null, after: Memory) => string
}

type ScopedContext = Pick<LayerContext, 'owner' | 'rules'>

export function resolveVersionedStability(context: ScopedContext): LayerStability {
  return isUserScoped(context) ? 'volatile' : 'stable'
}

/**
 * Returns the key under which a layer's versions are stored: the user's if the policy's scope is
 * `user` and the user is known, else the conversation's. Returns `null` if the conversation is not
 * stored.
 */
export function resolveVersionLocation(
  layer: string,
  context: ScopedContext & Pick<LayerContext, 'thread'>,
): LayerKey | null {
  const owner = { tenant: context.owner.tenant, user: context.owner.user }
  if (isUserScoped(context)) return { owner, layer, thread: null }
  return context.thread === null ? null : { owner, layer, thread: context.thread }
}

function isUserScoped({ owner, rules }: ScopedContext): boolean {
  return rules.scope === 'user' && owner.user !== null
}

export async function renderVersions<Memory>(
  context: LayerContext,
  renderer: MemoryRenderer<Memory>,
): Promise<LayerBlock | null> {
  const location = resolveVersionLocation(renderer.layer, context)
  if (location === null) return null
  const versions = await context.ports.layers.loadVersions(location)
  const latest = versions.at(-1)
  if (latest === undefined) return null
  if (location.thread === null)
    return { text: renderer.renderMemory(renderer.readMemory(latest.body), context.tokenLimit) }
  return renderStableBlock(context, versions, renderer)
}

function renderStableBlock<Memory>(
  { round, tokenLimit }: LayerContext,
  versions: readonly StoredLayerVersion[],
  { readMemory, renderMemory, renderChange }: MemoryRenderer<Memory>,
): LayerBlock {
  const memories = versions.map((version) => ({ ...version, memory: readMemory(version.body) }))
  const changeTokens = Math.min(MAX_CHANGE_TOKENS, Math.floor(tokenLimit / 2))
  const countTokens = ({ before, after }: MemoryChange<Memory>): number => {
    const text = renderChange(before, after)
    return text === '' ? 0 : estimateTokens(text) + TAG_TOKENS
  }
  const { snapshot, changes } = splitSnapshotAndChanges(memories, round, countTokens, changeTokens)
  return {
    text: snapshot === null ? '' : renderMemory(snapshot, tokenLimit - changeTokens),
    changes: changes.flatMap((change) => {
      const text = renderChange(change.before, change.after)
      return text === '' ? [] : [{ round: change.round, text }]
    }),
  }
}

/**
 * Max number of tokens for all changes after the last snapshot of a memory, or half of the layer's
 * limit if that is less. Beyond it, a new snapshot replaces the changes.
 */
const MAX_CHANGE_TOKENS = 256

/**
 * Estimated tokens that a change needs besides its text: the developer message and its tag, e.g.
 * `<working_memory_changed>`.
 */
const TAG_TOKENS = 40

/**
 * Updates the time of the last use of a memory's versions, so that they do not expire. Writes at
 * most once a day.
 */
export async function touchVersions(
  location: LayerKey,
  versions: readonly StoredLayerVersion[],
  { ports }: Pick<LayerContext, 'ports'>,
): Promise<void> {
  const usedAtMs = versions.at(-1)?.usedAtMs
  if (usedAtMs === undefined || usedAtMs > ports.nowMs() - DAY_MS) return
  await ports.layers.touchVersions(location, ports.nowMs())
}

const DAY_MS = 24 * 60 * 60 * 1000
