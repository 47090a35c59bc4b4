/**
 * What a model's name says about what it can do. An unknown name is given no invented powers; an
 * alias such as `gemini-flash-latest` counts as the newest generation.
 */
export interface ModelTraits {
  /** `models/gemini-3-pro-preview`, ready for a URL. */
  readonly path: string
  /** 2.5, 3, 3.1 …; `null` where the name does not say. */
  readonly generation: number | null
  readonly tier: 'pro' | 'flash' | 'flash-lite' | null
  /** How thinking is asked for: a number of tokens, a level, only whether to show it, or not. */
  readonly thinking: 'budget' | 'level' | 'shown' | 'none'
  /** Calls must be signed, results may hold media, JSON and functions go together. */
  readonly isThird: boolean
  readonly hasSystem: boolean
  /** Accepts a conversation that ends with the model's own words. */
  readonly continues: boolean
}

/** Stands for an alias that follows the newest model. */
const NEWEST = 99

export function describeModel(name: string): ModelTraits {
  const bare = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  const generation = generationOf(bare)
  const tier = tierOf(bare)
  return {
    path: pathOf(name),
    generation,
    tier,
    thinking: thinkingOf(bare, generation),
    isThird: generation !== null && generation >= 3,
    hasSystem: !/^gemma-[123]/.test(bare),
    continues: generation === null || generation <= 3.1 || bare === 'gemini-3.5-flash',
  }
}

/**
 * Whether what `maker` sealed can be read by `reader`. Only the major version and the size are
 * compared: the service answers to aliases and names its answers after what they stand for.
 */
export function canReadSignatures(reader: ModelTraits, maker: string): boolean {
  const made = describeModel(maker)
  if (reader.tier !== null && made.tier !== null && reader.tier !== made.tier) return false
  const [one, other] = [reader.generation, made.generation]
  if (one === null || other === null || one === NEWEST || other === NEWEST) return true
  return Math.floor(one) === Math.floor(other)
}

function pathOf(name: string): string {
  const [, folder = 'models', bare = name] = /^(models|tunedModels)\/(.+)$/.exec(name) ?? []
  return `${folder}/${encodeURIComponent(bare)}`
}

function generationOf(name: string): number | null {
  if (!name.startsWith('gemini-')) return null
  const version = /^gemini-(\d{1,2}(?:\.\d{1,2})?)(?:-|$)/.exec(name)?.[1]
  if (version !== undefined) return Number(version)
  return name.endsWith('-latest') ? NEWEST : null
}

function tierOf(name: string): ModelTraits['tier'] {
  if (name.includes('flash-lite')) return 'flash-lite'
  if (name.includes('flash')) return 'flash'
  return /-pro(?:-|$)/.test(name) ? 'pro' : null
}

function thinkingOf(name: string, generation: number | null): ModelTraits['thinking'] {
  if (generation === null || generation < 2.5) return 'none'
  if (/-(?:tts|audio|live|embedding)(?:-|$)/.test(name)) return 'none'
  if (name.includes('-image')) return generation >= 3 ? 'shown' : 'none'
  return generation >= 3 ? 'level' : 'budget'
}
