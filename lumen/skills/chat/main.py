"""chat: says a text to the person. Standard library only; runs on its own."""

import argparse
import json
import sys

HELP = "Say a text to the person who is talking with the agent."
EPILOG = (
    'Input (stdin): one JSON object {"text": "what to say"}. '
    'Output (stdout): one JSON object {"ok": true, "said": "..."}, or {"ok": false, "error": "..."} and exit code 1.'
)


def main() -> int:
    argparse.ArgumentParser(prog="chat", description=HELP, epilog=EPILOG).parse_args()
    try:
        request = json.load(sys.stdin)
        text = request["text"]
        if not isinstance(text, str) or not text.strip():
            raise ValueError("text must be a non-empty string")
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        print(json.dumps({"ok": False, "error": f"{type(problem).__name__}: {problem}"}))
        return 1
    print(json.dumps({"ok": True, "said": text}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
