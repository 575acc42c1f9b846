#!/bin/bash
# docs/reference/message.schema.json and the codec agree on every case of message_cases.jsonl that a schema can decide.
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 -c 'import jsonschema' 2>/dev/null || {
    echo "message_schema.sh: not checked, python3 has no jsonschema here"
    exit 0
}

python3 - <<'PYTHON'
import json
import sys

import jsonschema

schema = json.load(open("docs/reference/message.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
record = jsonschema.Draft202012Validator(schema)
staged = jsonschema.Draft202012Validator({**schema, "$ref": "#/$defs/staged"})
wrong = checked = 0
for line in open("tests/unit/message_cases.jsonl"):
    case = json.loads(line)
    reason = case.get("reason")
    if reason == "bad_json" and not case.get("beyond_schema"):
        continue
    valid = reason is None or case.get("beyond_schema", False)
    validator = staged if case["form"] == "staged" else record
    errors = [error.message for error in validator.iter_errors(json.loads(case["text"]))]
    checked += 1
    if bool(errors) == valid:
        wrong += 1
        print(f"{case['case']}: the schema {'refuses it: ' + errors[0] if errors else 'accepts it'}")
for examples, validator in ((schema["examples"], record), (schema["$defs"]["staged"]["examples"], staged)):
    for example in examples:
        validator.validate(example)
print(f"{checked} cases checked, {wrong} wrong")
sys.exit(wrong > 0 or checked < 200)
PYTHON
