from .fixtures import _shared_model_server, model_server

__all__ = ["_shared_model_server", "model_server"]
