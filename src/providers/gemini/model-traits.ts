/**
 * Derives from a model's name what the model supports. A model with an unknown name gets no
 * optional features. An alias such as `gemini-flash-latest` counts as the latest generation.
 */
export interface ModelTraits {
  /** The model's URL path, e.g. `models/gemini-3-pro-preview`. */
  readonly path: string
  /** The version, e.g. 2.5 or 3.1; `null` if the name contains none. */
  readonly generation: number | null
  readonly tier: 'pro' | 'flash' | 'flash-lite' | null
  /**
   * How thinking is requested: by a token budget (`budget`), by a level (`level`), only by
   * requesting thoughts (`shown`), or not at all.
   */
  readonly thinking: 'budget' | 'level' | 'shown' | 'none'
  /**
   * True from Gemini 3 on, which requires signatures on tool calls, accepts media in tool outputs,
   * and can combine JSON output with tools.
   */
  readonly isGeneration3OrLater: boolean
  readonly hasSystemInstruction: boolean
  /** True if the model continues a conversation that ends with its own message. */
  readonly supportsPrefill: boolean
}

/** The generation of an alias such as `gemini-flash-latest`, higher than any version. */
const LATEST_GENERATION = 99

export function describeModel(name: string): ModelTraits {
  const bare = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  const generation = parseGeneration(bare)
  const tier = parseTier(bare)
  return {
    path: buildPath(name),
    generation,
    tier,
    thinking: chooseThinkingMode(bare, generation),
    isGeneration3OrLater: generation !== null && generation >= 3,
    hasSystemInstruction: !/^gemma-[123]/.test(bare),
    supportsPrefill: generation === null || generation <= 3.1 || bare === 'gemini-3.5-flash',
  }
}

/**
 * True if the model `reader` accepts thought signatures of the model `maker`. Compares only the
 * major version and the tier, e.g. 3.1 Pro accepts those of 3 Pro. A minor version may differ even
 * for one model, because a request can name an alias and the answer names the actual model.
 */
export function canReadSignatures(reader: ModelTraits, maker: string): boolean {
  const made = describeModel(maker)
  if (reader.tier !== null && made.tier !== null && reader.tier !== made.tier) return false
  const [one, other] = [reader.generation, made.generation]
  if (one === null || other === null || one === LATEST_GENERATION || other === LATEST_GENERATION)
    return true
  return Math.floor(one) === Math.floor(other)
}

function buildPath(name: string): string {
  const [, folder = 'models', bare = name] = /^(models|tunedModels)\/(.+)$/.exec(name) ?? []
  return `${folder}/${encodeURIComponent(bare)}`
}

function parseGeneration(name: string): number | null {
  if (!name.startsWith('gemini-')) return null
  const version = /^gemini-(\d{1,2}(?:\.\d{1,2})?)(?:-|$)/.exec(name)?.[1]
  if (version !== undefined) return Number(version)
  return name.endsWith('-latest') ? LATEST_GENERATION : null
}

function parseTier(name: string): ModelTraits['tier'] {
  if (name.includes('flash-lite')) return 'flash-lite'
  if (name.includes('flash')) return 'flash'
  return /-pro(?:-|$)/.test(name) ? 'pro' : null
}

function chooseThinkingMode(name: string, generation: number | null): ModelTraits['thinking'] {
  if (generation === null || generation < 2.5) return 'none'
  if (/-(?:tts|audio|live|embedding)(?:-|$)/.test(name)) return 'none'
  if (name.includes('-image')) return generation >= 3 ? 'shown' : 'none'
  return generation >= 3 ? 'level' : 'budget'
}
