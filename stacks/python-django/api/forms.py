"""What requests may say of items."""

from typing import Any

from django import forms
from django.core.exceptions import BadRequest, ValidationError
from django.http import QueryDict

from .json_bodies import is_unicode, json_in

MAX_ID = 2**31 - 1  # PostgreSQL's integer
DEFAULT_LIMIT = 20


class JsonTextField(forms.CharField):
    """Text alone. Of a number or a list, CharField would make a text."""

    def to_python(self, value: object) -> str:
        if value is not None and not (isinstance(value, str) and is_unicode(value)):
            raise ValidationError("Enter a text.")
        return super().to_python(value)


class ItemForm(forms.Form):
    name = JsonTextField(max_length=100, strip=False)
    price = forms.IntegerField(min_value=0, max_value=1_000_000)


class PageForm(forms.Form):
    after = forms.IntegerField(min_value=0, max_value=MAX_ID)
    limit = forms.IntegerField(min_value=1, max_value=100)


def page_in(query: QueryDict) -> dict[str, Any]:
    return cleaned(PageForm({"after": 0, "limit": DEFAULT_LIMIT, **query.dict()}))


def item_in(body: bytes) -> dict[str, Any]:
    data = json_in(body)
    if not isinstance(data, dict):
        raise BadRequest("no object")
    return cleaned(ItemForm(data))


def cleaned(form: forms.Form) -> dict[str, Any]:
    """The form's data. Whatever it does not accept is a bad request."""
    if not form.is_valid():
        raise BadRequest(form.errors.as_json())
    return form.cleaned_data
