"""Failures that are an answer."""


class HttpError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class BadRequest(HttpError):
    def __init__(self, message: str) -> None:
        super().__init__(400, message)


class NotFound(HttpError):
    def __init__(self, message: str) -> None:
        super().__init__(404, message)


class UnsupportedMediaType(HttpError):
    def __init__(self, message: str) -> None:
        super().__init__(415, message)


class BadGateway(HttpError):
    def __init__(self, message: str) -> None:
        super().__init__(502, message)


class ServiceUnavailable(HttpError):
    def __init__(self, message: str) -> None:
        super().__init__(503, message)
