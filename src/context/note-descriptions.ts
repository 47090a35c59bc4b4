/**
 * What every note of a transform means, in one sentence for a person who asks why the model was given
 * this. Whoever adds a code adds its sentence here; a test compares.
 */
export const NOTE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  // Between a client and the gateway.
  'marker-removed':
    'The marker in the text was taken out: it is between the client and the gateway.',
  'marker-unknown':
    'The marker in the text was taken out; it names nothing that is remembered here.',
  'beyond-memory':
    'The marker in the text was taken out; the chat is longer than what is remembered at once, and this is from before that.',
  'details-removed':
    'A `<details>` block that an older Open WebUI wrote into the text was taken out.',

  // What is remembered.
  recalled: 'The client had forgotten it, and the gateway put it back in its place.',
  'already-remembered': 'The client repeats what the gateway remembers already.',
  'text-restored': 'The client has the same words in another form, so the recorded ones are sent.',
  'text-edited': "The client has edited the words, and the client's words win.",
  'text-removed': 'The client has deleted these words.',
  'call-edited': "The client has edited the call, and the client's words win.",
  'call-forgotten': 'The client no longer has this call, and calls are not put back.',
  'not-replayable': 'An item of this kind means nothing once its answer is over.',
  'reasoning-replaced': 'The reasoning was recorded in full, and that is sent in its place.',
  'marker-doubted':
    'The marker stands with words that need not be those of its turn, so that turn was not put back.',
  'turn-ambiguous': 'Several remembered turns fit these words equally well, so none was put back.',
  unreadable:
    'It is damaged, or sealed with a key that this gateway does not have, so it is left out.',
  'memory-not-reached': 'The memory did not answer in time, so nothing was put back.',

  // What belongs together.
  'output-without-call': 'An output whose call is not there would be refused.',
  'call-without-output': 'A call that never got its output would be refused.',
  'call-malformed': 'A call without an id cannot be answered.',
  'pair-duplicate': 'The call and its output were there twice, and are sent once.',
  'output-misplaced': 'An output has to stand directly behind the calls that were made together.',
  'output-stubbed': 'The call never got its output, so that one that says so was added.',
  'reasoning-without-follower': 'Reasoning is sent only together with what it led to.',

  // What is too old or too much.
  windowed: 'It is older than what the window of the policy keeps.',
  'over-window': 'The conversation is longer than the model can take, and the oldest goes first.',
  'output-too-old': 'A long tool output of an old turn was cut down to its beginning and end.',
  'output-capped': 'A tool output was cut when it was first seen, and stays like that.',
  'budget-warned':
    'The conversation has nearly filled what the model can take, so the model is told to finish.',
  'budget-spent': 'The model was told to finish and goes on calling tools, so it is asked without.',
  'reasoning-expired': 'Reasoning is kept only as long as the policy says.',

  // What a reader would refuse.
  'reasoning-of-elsewhere': 'Reasoning of another provider or account cannot be read there.',
  'reasoning-of-another-prefix':
    'Reasoning is valid only behind the very conversation that it was made on, which has changed.',
  'reasoning-refused': 'The upstream has refused the reasoning of this conversation.',

  // What is told beside the conversation.
  'layer-told': 'A memory beside the conversation is told to the model.',
  'layer-told-anew': 'What was told of a memory beside the conversation is told anew.',
  'layer-late': 'A memory beside the conversation did not answer in time, so it is not told.',
  'layer-failed': 'A memory beside the conversation failed, so it is not told.',
  'layer-too-long': 'A memory beside the conversation is longer than it may be, so it is not told.',

  // Summaries.
  compacted: 'A summary stands for it.',
  'compaction-told': 'The summary is told to the model as a message.',
  'compaction-trigger': 'A request to compact the conversation is not for the model.',
  'compaction-unreadable': 'The summary cannot be read any more, so it stands for nothing.',
  'compaction-made-elsewhere': 'Only the upstream that made this summary can read it.',
  'compaction-failed': 'No summary could be made, so the conversation was sent as it is.',
  'compaction-of-other-words':
    'The upstream made this summary of words that the client has edited since, so it stands for nothing.',
  'compaction-first':
    'The upstream reads nothing in front of its own summary: what is still told of before follows that answer.',
  'summary-due':
    'The conversation would not fit its model: a summary of its beginning is made first.',
  'compaction-due': 'The conversation is over its threshold: a summary will be made first.',

  // Who speaks, and what is told beside the conversation.
  'before-reset': 'It was said before the conversation was reset.',
  'compaction-of-hidden':
    'It was made when an author was still shown who is hidden now, and may tell of them.',
  'author-hidden': 'Of its author nothing is shown; one placeholder stands for all in a row.',
  'merged-run': 'Messages in a row of one author were joined to one.',
  'speaker-named': 'The name of who says it was added, so that the model knows.',
  'speaker-not-named':
    'The name of who says it was left out, as the policy wants or the wire needs.',
  'told-as-user':
    'Somebody other says it than the model speaks as, so it is told as said by a user.',
  'told-as-assistant': 'Who the model plays has said it, so it is told as its own words.',
  'reasoning-of-another-speaker': 'Reasoning is not sent without the words that it led to.',
  'context-note': 'A note of the operator or the client was told at its depth.',
  'note-moved': 'The note has moved on with the conversation.',

  summarised: 'The summary that is told instead stands for it.',
  'summary-told': 'The summary stands in front of the turns that are sent in full.',

  // Media.
  'media-outside-window': 'It holds media that are older than the policy shows; a notice says so.',
  'media-too-old': 'It holds images of older turns, which it pays to leave out; a notice says so.',
  'media-over-limit': 'It holds more media than the policy shows; a notice says so.',
  'media-over-bytes': 'It holds more bytes of media than a request may carry; a notice says so.',
  'media-repeated': 'The same image comes again later and is shown there.',
  'media-unseen': 'It holds media that the model cannot take; a notice says so.',
  'media-loaded': 'The upstream cannot load the medium by itself, so the gateway did.',
  'media-type-corrected': 'The medium is of another type than was said, and is sent as what it is.',
  'media-mislabelled': 'The medium is not what it says it is; a notice says so.',
  'media-oversized': 'It is larger than may be loaded, or than its reader takes; a notice says so.',
  'media-too-much': 'The conversation holds more media than its reader takes; the oldest go first.',
  'media-too-many': 'The request names more media than are loaded for it; the oldest go first.',
  'media-blocked':
    'Its address is not one that may be asked, by the gateway or by whom it tells; a notice says so.',
  'media-unreachable': 'Its address does not answer; a notice says so.',
  'media-gone': 'There is nothing at its address; a notice says so.',
  'media-late': 'Its address did not answer in time; a notice says so.',
  'media-memory': 'The gateway was busy with too many other media; a notice says so.',
  'images-reused': 'The images of the answer before are shown, because the question has none.',
  'notice-defused': 'A text that looks like a notice of the gateway was made harmless.',

  // Tools of the gateway.
  'house-tool-offered': 'The gateway offers a tool of its own and answers it itself.',
  'house-tool-withheld':
    'A tool of the gateway is not offered, because the client has one of that name.',

  // Parameters.
  'refused-by-upstream': 'The upstream refused this parameter, and was asked again without it.',
}
