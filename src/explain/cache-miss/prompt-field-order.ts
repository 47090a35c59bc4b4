/**
 * Request fields in the order in which a model reads them and a provider's cache compares them,
 * whatever their order in the body.
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

/** Fields with instructions, which come before the conversation. */
export const INSTRUCTION_FIELDS = ['systemInstruction', 'system', 'instructions'] as const

/**
 * Field that marks the end of a cached prefix. The comparison ignores it, because it moves from turn to
 * turn while the marked content stays the same.
 */
export const CACHE_CONTROL_FIELD = 'cache_control'
