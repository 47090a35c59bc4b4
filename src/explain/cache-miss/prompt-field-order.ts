/**
 * The fields of a request that make up what a model reads, in the order in which it reads them,
 * whatever order they are written in. That is the order in which a provider's cache compares.
 */
export const PROMPT_FIELDS = [
  'tools',
  'systemInstruction',
  'system',
  'instructions',
  'messages',
  'input',
  'contents',
  'items',
] as const

/** Those of them that hold instructions, and stand in front of what was said. */
export const INSTRUCTION_FIELDS = ['systemInstruction', 'system', 'instructions'] as const

/** Marks of what is to be cached move from turn to turn, and what they mark stays the same. */
export const CACHE_CONTROL_FIELD = 'cache_control'
