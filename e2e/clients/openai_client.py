"""Has a turn with a tool of its own, with the official OpenAI SDK for Python, over both APIs, in pieces and at once.

    openai_client.py BASE_URL KEY MODEL

Carries out every call of `select_file` by naming a file after the prompt. Prints one line of JSON: per API and
delivery the calls, the last text, in how many pieces text came and how many tokens it cost; and how two wrong requests are refused.
"""

import json
import sys

from openai import AuthenticationError, NotFoundError, OpenAI

NAME = "select_file"
ABOUT = "Lets a person pick a file."
PARAMETERS = {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}
PROMPT = "Pick two files."
MOST_TURNS = 5


def carry_out(name, arguments, calls):
    calls.append([name, json.loads(arguments)])
    return json.dumps({"path": calls[-1][1]["prompt"] + ".txt"})


def chat(client, model, stream):
    tool = {"type": "function", "function": {"name": NAME, "description": ABOUT, "parameters": PARAMETERS}}
    messages = [{"role": "user", "content": PROMPT}]
    calls, pieces, tokens = [], 0, 0
    for _ in range(MOST_TURNS):
        asked = dict(model=model, messages=messages, tools=[tool])
        if stream:
            with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
                pieces += sum(event.type == "content.delta" for event in events)
                completion = events.get_final_completion()
        else:
            completion = client.chat.completions.create(**asked)
        [choice] = completion.choices
        tokens += completion.usage.total_tokens
        if choice.finish_reason != "tool_calls":
            return {"calls": calls, "text": choice.message.content, "pieces": pieces, "tokens": tokens}
        messages.append(choice.message.model_dump(exclude_none=True, exclude={"parsed"}))
        for call in choice.message.tool_calls:
            output = carry_out(call.function.name, call.function.arguments, calls)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
    raise AssertionError("no end of calls")


def responses(client, model, stream):
    tool = {"type": "function", "name": NAME, "description": ABOUT, "parameters": PARAMETERS, "strict": False}
    asked = {"input": PROMPT}
    calls, pieces, tokens = [], 0, 0
    for _ in range(MOST_TURNS):
        if stream:
            with client.responses.stream(model=model, tools=[tool], **asked) as events:
                pieces += sum(event.type == "response.output_text.delta" for event in events)
                response = events.get_final_response()
        else:
            response = client.responses.create(model=model, tools=[tool], **asked)
        tokens += response.usage.total_tokens
        open_calls = [item for item in response.output if item.type == "function_call"]
        if not open_calls:
            return {"calls": calls, "text": response.output_text, "pieces": pieces, "tokens": tokens}
        outputs = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": carry_out(call.name, call.arguments, calls),
            }
            for call in open_calls
        ]
        asked = {"input": outputs, "previous_response_id": response.id}
    raise AssertionError("no end of calls")


def refused(error, request):
    try:
        request()
    except error as refusal:
        return refusal.code
    return None


def main() -> None:
    base_url, key, model = sys.argv[1:]
    client = OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=30)
    stranger = client.with_options(api_key="wrong")
    messages = [{"role": "user", "content": PROMPT}]
    report = {
        "chat": [chat(client, model, stream) for stream in (False, True)],
        "responses": [responses(client, model, stream) for stream in (False, True)],
        "models": [entry.id for entry in client.models.list()],
        "refused": [
            refused(AuthenticationError, lambda: stranger.models.list()),
            refused(NotFoundError, lambda: client.chat.completions.create(model="nobody", messages=messages)),
        ],
    }
    print(json.dumps(report))


main()
