/**
 * Recognizes a message that only appends text, e.g. `{"type":"…delta","delta":"Hi"}`, without parsing it.
 * `before` matches the data up to the opening quote of the text, `after` from the closing quote on, and
 * none of `excludedPatterns` may match.
 */
export interface TextDeltaMessagePattern {
  readonly before: RegExp
  readonly after: RegExp
  readonly excludedPatterns: readonly RegExp[]
}
