/**
 * Describes each note code in one sentence, for users who read in an explain report why an item was changed. Notes of
 * encoders are described in `src/providers`.
 */
export const NOTE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  // Codes of notes about markers and details blocks in texts of clients.
  'marker-removed': 'The marker was removed: it is meant for the gateway, not for the model.',
  'marker-unknown': 'The marker was removed; no stored turn belongs to it.',
  'beyond-memory':
    'The marker was removed; the chat is longer than what is loaded at once, and this turn was not loaded.',
  'details-removed': 'A `<details>` block of an older Open WebUI was removed from the text.',

  // Codes of notes about stored items that were merged into the list of the client, or were not.
  recalled: 'The client had not sent this item, and the gateway restored it.',
  'already-remembered': 'The client sent an item that is stored already; it is sent once.',
  'text-restored': 'The client sent the same text in another form, so the stored text is sent.',
  'text-edited': "The client has edited the text, and the client's text is sent.",
  'reasoning-of-edited-text':
    'The client has edited the text that this led to, so it is no longer sent.',
  'text-removed': 'The client has deleted this text.',
  'call-edited': "The client has edited the call, and the client's version is sent.",
  'call-forgotten': 'The client no longer sends this call, and calls are not restored.',
  'chat-imported':
    'The latest answer names a turn that is not stored: the chat was imported, or its turns have expired.',
  'deleted-by-user': 'The user has deleted this from the answer, so it stays deleted.',
  'not-replayable': 'An item of this kind has no meaning after its answer.',
  'reasoning-replaced': 'The reasoning is stored in full, and the stored version is sent.',
  'marker-doubted': 'The text may not belong to the marker, so the turn was not restored.',
  'turn-ambiguous': 'Several stored turns match this text equally well, so none was restored.',
  unreadable: 'The stored item is damaged.',
  'memory-not-reached': 'The store did not respond in time, so nothing was restored.',

  // Codes of notes about calls, outputs and reasoning without their partner.
  'output-without-call': 'The provider would reject the output, because its call is missing.',
  'call-without-output': 'The call never got an output, and the provider would reject it.',
  'call-malformed': 'A call without an id can never get an output.',
  'pair-duplicate': 'The call and its output came twice, and are sent once.',
  'output-misplaced': 'The output was moved: it must directly follow the calls of its batch.',
  'output-stubbed': 'The call never got an output, so one was added that states this.',
  'reasoning-without-follower': 'Reasoning is sent only together with the item that it led to.',

  // Codes of notes about limits of the policy and of the model.
  windowed: 'The item is older than the window of the policy.',
  'over-window': 'The conversation exceeds the context window; the oldest turns are left out.',
  'output-too-old': 'A long tool output of an old turn was cut down to its beginning and end.',
  'output-capped': 'The tool output was cut when it was first sent, and stays like that.',
  'budget-warned': 'The context window is nearly full, so the model is asked to finish.',
  'budget-spent': 'The model was asked to finish but went on, so it gets no tools now.',
  'reasoning-expired': 'Reasoning is kept only as long as the policy says.',

  // Codes of notes about reasoning that the upstream would reject.
  'reasoning-of-elsewhere': 'Only the provider and account that wrote it can read this reasoning.',
  'reasoning-of-another-prefix':
    'Reasoning is valid only as long as the conversation before it is unchanged, and it has changed.',
  'reasoning-of-another-model':
    'The account has rejected the reasoning of one model in a request to another, so only the model that wrote it gets it.',
  'reasoning-newly-lost':
    'Something before earlier reasoning has changed since the previous answer, so that reasoning is left out from now on.',
  'reasoning-refused': 'The upstream has rejected the reasoning of this conversation before.',

  // Codes of notes about memory layers.
  'layer-told': 'A memory layer was added to the prompt.',
  'layer-told-anew': 'The current content of a memory layer was added to the prompt again.',
  'layer-late': 'A memory layer did not respond in time, so it was left out.',
  'layer-failed': 'A memory layer failed, so it was left out.',
  'layer-too-long': 'A memory layer is longer than allowed, so it was left out.',

  // Codes of notes about compactions and summaries.
  compacted: 'A compaction replaces this item.',
  'compaction-told': 'The text of the compaction is sent to the model as a message.',
  'compaction-trigger': 'A request to compact the conversation is not sent to the model.',
  'compaction-unreadable': 'The compaction cannot be read any more, so it replaces nothing.',
  'compaction-made-elsewhere': 'Only the upstream that made this compaction can read it.',
  'compaction-failed': 'No summary could be made, so the conversation was sent as it is.',
  'compaction-of-other-words':
    'The client has edited the text that the upstream compacted, so the compaction replaces nothing.',
  'compaction-first':
    'The upstream ignores items before its own compaction, so they were moved after that answer.',
  'summary-due':
    'The conversation does not fit the context window, so a summary of its beginning is made first.',
  'compaction-due': 'The conversation exceeds its threshold, so it will be compacted first.',

  // Codes of notes about speakers, resets and texts of the policy.
  'before-reset': 'The item is older than the last reset of the conversation.',
  'compaction-of-hidden':
    'The compaction was made when a now hidden author was visible, and may mention that author.',
  'author-hidden': 'The author is hidden; one placeholder replaces all items in a row.',
  'merged-run': 'Consecutive messages of one author were merged.',
  'speaker-named': 'The name of the author was added.',
  'speaker-not-named': 'The name was removed, as the policy or the API requires.',
  'told-as-user': 'The model does not speak as this author: sent as a user message.',
  'told-as-assistant': 'The model speaks as this author: sent as an assistant message.',
  'reasoning-of-another-speaker': 'The reasoning led to a message of another author.',
  'context-note': 'A context note of the operator or the client was inserted.',
  'note-moved': 'The context note was moved, because the conversation has grown.',

  summarised: 'A summary replaces this item.',
  'summary-told': 'The summary was inserted before the first turn that is sent in full.',

  // Codes of notes about media.
  'media-outside-window': 'The media are older than the policy allows; a notice replaces them.',
  'media-too-old': 'Leaving out images of older turns saves costs; a notice replaces them.',
  'media-over-limit': 'There are more media than allowed; a notice replaces the older ones.',
  'media-over-bytes': 'The media have more bytes than allowed; a notice replaces older ones.',
  'media-repeated': 'The same image comes again later and is sent there.',
  'media-unseen': 'The model does not accept this kind of media; a notice replaces them.',
  'media-loaded': 'The upstream cannot load the file from its address, so the gateway loaded it.',
  'media-type-corrected': 'The file has another type than stated, and is sent with its real type.',
  'media-mislabelled': 'The file is not of the stated type; a notice replaces it.',
  'media-oversized':
    'The file is larger than the gateway may load or the upstream accepts; a notice replaces it.',
  'media-too-much': 'There are more media than the upstream accepts; the oldest are left out.',
  'media-too-many': 'There are more media than the gateway loads; the oldest are left out.',
  'media-blocked':
    'Neither the gateway nor the upstream may load from this address; a notice replaces the file.',
  'media-unreachable': 'The server at this address does not respond; a notice replaces the file.',
  'media-gone': 'There is no file at this address; a notice replaces it.',
  'media-late': 'The server at this address did not respond in time; a notice replaces the file.',
  'media-memory': 'The gateway was loading too many other media; a notice replaces the file.',
  'images-reused': 'The images of the previous answer were added, because the question has none.',
  'notice-defused': 'A text that imitates a notice of the gateway was changed.',

  // Codes of notes about gateway tools. The codes call them `house` tools.
  'house-tool-offered': 'The gateway offers a tool of its own and runs it.',
  'house-tool-withheld': 'A gateway tool is not offered, because the client has one of that name.',

  // Codes of notes about request parameters.
  'lowest-effort': 'The model need not reason for this task of the client, such as a title.',
  'summary-requested': 'Open WebUI shows the reasoning of this model only as a summary.',
  'refused-by-upstream': 'The upstream refused this parameter, and was asked again without it.',
}
